-- The tables in which this server keeps the rows of a table: the table itself, or on Citus its
-- shards on this node, in the same order for all tables, so that the shards of two tables
-- correspond. For reading only: changes go through the table itself, by statements that name the
-- accounts (docs/scale.md).
CREATE OR REPLACE FUNCTION tables_here(p_table regclass) RETURNS SETOF regclass LANGUAGE plpgsql STABLE AS $$
DECLARE
  distributed boolean := false;
BEGIN
  IF to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL THEN
    EXECUTE 'SELECT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = $1)' INTO distributed USING p_table;
  END IF;
  IF NOT distributed THEN
    RETURN NEXT p_table;
    RETURN;
  END IF;
  RETURN QUERY EXECUTE
    'SELECT shard_name(s.logicalrelid, s.shardid)::regclass
     FROM pg_dist_shard s JOIN pg_dist_placement p USING (shardid) JOIN pg_dist_local_group g USING (groupid)
     WHERE s.logicalrelid = $1 AND p.shardstate = 1 ORDER BY s.shardminvalue::integer'
    USING p_table;
END $$;

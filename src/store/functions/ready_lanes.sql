-- The lanes of this server that have something ready, in a distributed database: starting where the
-- last round stopped and wrapping around to there, those of one shard together. Called by
-- claim_due, which finds them by itself if nothing is distributed. Each is found by one jump
-- through the index of its shard. A suspended account has none, nor has one at its limit; a paused
-- one has only its urgent email.
CREATE OR REPLACE FUNCTION ready_lanes(p_after bigint, p_lanes integer, p_full bigint[])
RETURNS TABLE (home bigint[], firsts smallint[], last_lane bigint, lanes integer) LANGUAGE plpgsql
  SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET plan_cache_mode = force_custom_plan AS $$
DECLARE
  here record;
  found_lanes bigint[] := '{}';
  found_firsts smallint[] := '{}';
  shards bigint[] := '{}';
BEGIN
  FOR here IN
    SELECT d.shardid, shard_name(d.logicalrelid, d.shardid) AS due, shard_name(a.logicalrelid, a.shardid) AS accounts
    FROM pg_dist_shard d JOIN pg_dist_shard a USING (shardminvalue)
    JOIN pg_dist_placement p ON p.shardid = d.shardid AND p.shardstate = 1 JOIN pg_dist_local_group g USING (groupid)
    WHERE d.logicalrelid = 'due_messages'::regclass AND a.logicalrelid = 'accounts'::regclass
  LOOP
    FOR home, firsts IN EXECUTE format($lanes$
      WITH RECURSIVE lane AS (
        SELECT 0 AS rank, $1::bigint AS account_id, NULL::smallint AS class
        UNION ALL
        SELECT CASE WHEN ahead.account_id IS NULL THEN 1 ELSE l.rank END, coalesce(ahead.account_id, 0), ahead.class
        FROM lane l LEFT JOIN LATERAL (
          SELECT d.account_id, d.class FROM %1$s d
          WHERE d.state = 'ready' AND d.account_id > l.account_id
          ORDER BY d.account_id, d.class, d.due_at LIMIT 1) ahead ON true
        WHERE (l.rank = 0 AND (ahead.account_id IS NOT NULL OR $1 > 0)) OR (l.rank = 1 AND ahead.account_id <= $1)
      )
      SELECT array_agg(r.account_id), array_agg(r.class) FROM (
        SELECT l.account_id, l.class FROM lane l
        WHERE l.class IS NOT NULL AND l.account_id <> ALL ($3)
          AND NOT EXISTS (SELECT FROM %2$s a WHERE a.id = l.account_id
                          AND (a.suspended_at IS NOT NULL OR a.paused_at IS NOT NULL AND l.class > 0
                               OR a.delivery_limit IS NOT NULL AND a.delivery_limit
                                 <= (SELECT count(*) FROM %1$s h WHERE h.account_id = a.id AND h.state = 'in hand')))
        LIMIT $2) r $lanes$, here.due, here.accounts)
      USING p_after, p_lanes, p_full
    LOOP
      CONTINUE WHEN home IS NULL;
      found_lanes := found_lanes || home;
      found_firsts := found_firsts || firsts;
      shards := shards || array_fill(here.shardid, ARRAY[cardinality(home)]);
    END LOOP;
  END LOOP;

  -- Of all that the shards have, the first after the last round, as if they were one table.
  lanes := least(p_lanes, cardinality(found_lanes));
  RETURN QUERY
    SELECT array_agg(f.lane ORDER BY f.place), array_agg(f.best ORDER BY f.place), max(max(f.lane) FILTER (WHERE f.place = lanes)) OVER (), lanes
    FROM (
      SELECT t.lane, t.best, t.shard, row_number() OVER (ORDER BY t.lane <= p_after, t.lane) AS place
      FROM unnest(found_lanes, found_firsts, shards) AS t (lane, best, shard)
    ) f
    WHERE f.place <= p_lanes GROUP BY f.shard;
END $$;

-- The accounts of this server that have email ready which the sandbox captures. Called by queue/due.ts while no relay can take
-- anything, and by nobody else: it reads the index of what is captured, shard by shard, so that a node that is away keeps no other
-- from its own, and none is asked for what lies elsewhere.
CREATE OR REPLACE FUNCTION captured_lanes() RETURNS SETOF bigint LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
DECLARE
  here record;
BEGIN
  FOR here IN
    SELECT * FROM ROWS FROM (tables_here('due_messages'), tables_here('accounts')) AS here (due, accounts)
  LOOP
    RETURN QUERY EXECUTE format(
      'SELECT DISTINCT d.account_id FROM %s d JOIN %s a ON a.id = d.account_id
       WHERE d.state = ''ready'' AND d.class = 3 AND a.suspended_at IS NULL AND a.paused_at IS NULL',
      here.due, here.accounts);
  END LOOP;
END $$;

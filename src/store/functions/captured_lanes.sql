-- The accounts of this server with ready email that the sandbox captures. Called only by
-- queue/due.ts, while no relay can take anything. It reads the index of captured email shard by
-- shard, so that each node looks at its own and none waits for one that is away.
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

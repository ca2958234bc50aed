-- Puts the emails of this server that are due by the database's clock, deferred or scheduled, into
-- their lanes. In pieces, so that nobody waits long for a lock; returns how many, and a caller who
-- got as many as it asked for calls again at once. Called by queue/leases.ts.
CREATE OR REPLACE FUNCTION fill_lanes(p_most integer)
RETURNS integer LANGUAGE plpgsql SET enable_seqscan = off SET plan_cache_mode = auto AS $$
DECLARE
  home bigint[];
  filled integer;
  come integer := 0;
BEGIN
  FOR home IN SELECT homes_here('due_messages', 'state = ''waiting'' AND due_at <= now()') LOOP
    WITH come AS MATERIALIZED (
      SELECT w.account_id, w.message_id FROM due_messages w
      WHERE w.state = 'waiting' AND w.due_at <= now() AND (home IS NULL OR w.account_id = ANY (home))
      ORDER BY w.due_at LIMIT p_most FOR UPDATE SKIP LOCKED)
    UPDATE due_messages d SET state = 'ready'
    FROM come WHERE d.account_id = come.account_id AND d.message_id = come.message_id
      AND (home IS NULL OR d.account_id = ANY (home));
    GET DIAGNOSTICS filled = ROW_COUNT;
    come := greatest(come, filled);
  END LOOP;
  RETURN come;
END $$;

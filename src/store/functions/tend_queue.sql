-- What each delivery process does every second: renews its lease, frees what dead processes had in hand, and puts in their lanes
-- the mails whose time has come. By the database's clock alone. Answers whether the lease still holds. Called by queue/leases.ts.
CREATE OR REPLACE FUNCTION tend_queue(p_lease uuid, p_lease_ms integer, p_free boolean)
RETURNS boolean LANGUAGE plpgsql SET enable_seqscan = off SET plan_cache_mode = auto AS $$
DECLARE
  held boolean;
  dead uuid[];
BEGIN
  -- A lease that ran out and that nobody ended meanwhile goes on: nothing of it was given away.
  UPDATE delivery_leases SET held_until = clock_timestamp() + p_lease_ms * interval '1 millisecond' WHERE id = p_lease;
  held := FOUND;

  IF p_free THEN
    DELETE FROM delivery_leases WHERE id IN (
      SELECT l.id FROM delivery_leases l WHERE l.held_until < now() FOR UPDATE SKIP LOCKED);
  END IF;

  -- A lease that is gone never comes back, so what is in hand under one belongs to nobody.
  dead := ARRAY (
    SELECT DISTINCT d.lease FROM due_messages d
    WHERE d.state = 'in hand' AND NOT EXISTS (SELECT FROM delivery_leases l WHERE l.id = d.lease));
  IF cardinality(dead) > 0 THEN
    -- One of them may have killed its process. Whoever was there twice comes back at a moment of its own, so that the next
    -- death has few witnesses; a mail that is there every time is set aside.
    UPDATE due_messages d SET
      lease = NULL,
      deaths = d.deaths + 1,
      state = CASE WHEN d.deaths >= 7 THEN 'set aside' WHEN d.deaths >= 1 THEN 'waiting' ELSE 'ready' END::due_state,
      due_at = CASE WHEN d.deaths >= 1 THEN clock_timestamp() + d.deaths * random() * interval '10 seconds' ELSE d.due_at END,
      set_aside_at = CASE WHEN d.deaths >= 7 THEN clock_timestamp() END,
      reason = CASE WHEN d.deaths >= 7 THEN 'eight times in a row the process died that had this mail in hand' END
    WHERE d.state = 'in hand' AND d.lease = ANY (dead);
  END IF;

  WITH come AS MATERIALIZED (
    SELECT w.account_id, w.message_id FROM due_messages w
    WHERE w.state = 'waiting' AND w.due_at <= now()
    ORDER BY w.due_at LIMIT 2000 FOR UPDATE SKIP LOCKED)
  UPDATE due_messages d SET state = 'ready'
  FROM come WHERE d.account_id = come.account_id AND d.message_id = come.message_id;
  RETURN held;
END $$;

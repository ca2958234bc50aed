-- What each delivery process does every second: renews its lease and ends those of dead processes.
-- By the database's clock alone. Returns whether the lease still holds, and which of the leases
-- seen on emails in hand no longer exist: an ended lease never comes back, so what is in hand under
-- one belongs to nobody. Before: leases_in_hand; after: free_in_hand; all called by
-- queue/leases.ts.
CREATE OR REPLACE FUNCTION tend_queue(p_lease uuid, p_lease_ms integer, p_free boolean, p_seen uuid[])
RETURNS TABLE (held boolean, dead uuid[]) LANGUAGE plpgsql SET enable_seqscan = off SET plan_cache_mode = auto AS $$
BEGIN
  -- A lease that expired but that nobody has ended continues: nothing under it was given to others.
  UPDATE delivery_leases SET held_until = clock_timestamp() + p_lease_ms * interval '1 millisecond' WHERE id = p_lease;
  held := FOUND;

  IF p_free THEN
    DELETE FROM delivery_leases WHERE id IN (
      SELECT l.id FROM delivery_leases l WHERE l.held_until < now() FOR UPDATE SKIP LOCKED);
  END IF;

  dead := ARRAY (
    SELECT seen.id FROM unnest(p_seen) AS seen (id)
    WHERE NOT EXISTS (SELECT FROM delivery_leases l WHERE l.id = seen.id));
  RETURN NEXT;
END $$;

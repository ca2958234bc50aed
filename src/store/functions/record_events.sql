-- Records a batch of events: event rows, the message's status and sequence, and the webhook rows, together. Answers the
-- positions that were new. One call is one statement of one transaction: no event without its rows, no row without its event.
-- Never scans from end to end: see accept_sends.sql.
CREATE OR REPLACE FUNCTION record_events(
  -- The events, a column each: EVENT_COLUMNS of src/events/record.ts, called by name. Here p_name is unnested as name.
  p_account_id bigint[], p_message_id uuid[], p_event_id uuid[], p_kind text[], p_status text[], p_hook text[],
  p_recipients text[], p_detail text[], p_relay_id text[]
) RETURNS SETOF bigint LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
  moment timestamptz;
  -- Bounds let the planner leave all other days' partitions alone.
  earliest CONSTANT uuid := (SELECT m FROM unnest(p_message_id) m ORDER BY m LIMIT 1);
  latest CONSTANT uuid := (SELECT m FROM unnest(p_message_id) m ORDER BY m DESC LIMIT 1);
  recorded bigint[];
BEGIN
  PERFORM FROM messages m
  WHERE m.id BETWEEN earliest AND latest
    AND (m.account_id, m.id) IN (SELECT * FROM unnest(p_account_id, p_message_id))
  ORDER BY m.account_id, m.id FOR UPDATE;
  -- Under the lock, so that times rise with the sequence. A microsecond apart, so that the timeline keeps the order they came in.
  moment := clock_timestamp();

  WITH incoming AS (
    SELECT DISTINCT ON (t.account_id, t.message_id, t.event_id) t.*
    FROM unnest(p_account_id, p_message_id, p_event_id, p_kind, p_status, p_hook,
                p_recipients, p_detail, p_relay_id)
      WITH ORDINALITY AS t (account_id, message_id, event_id, kind, status, hook, recipients, detail, relay_id, n)
    ORDER BY t.account_id, t.message_id, t.event_id, t.n
  ), fresh AS (
    SELECT i.*,
           CASE WHEN i.hook IS NOT NULL THEN m.last_sequence + count(i.hook) OVER earlier END AS sequence,
           CASE WHEN i.hook IS NOT NULL THEN coalesce(max(i.relay_id) OVER earlier, m.relay_message_id, '') END AS relay_id_then
    FROM incoming i
    JOIN messages m ON m.account_id = i.account_id AND m.id = i.message_id AND m.id BETWEEN earliest AND latest
    WHERE NOT EXISTS (
      SELECT FROM events e
      WHERE e.account_id = i.account_id AND e.message_id = i.message_id AND e.id = i.event_id
        AND e.message_id BETWEEN earliest AND latest)
    WINDOW earlier AS (PARTITION BY i.account_id, i.message_id ORDER BY i.n)
  ), written AS (
    INSERT INTO events (account_id, message_id, id, kind, at, sequence, recipients, detail, relay_message_id)
    SELECT f.account_id, f.message_id, f.event_id, f.kind, moment + f.n * interval '1 microsecond', f.sequence,
           f.recipients::text[], f.detail::jsonb, f.relay_id_then
    FROM fresh f
  ), raised AS (
    UPDATE messages m SET
      status = greatest(m.status, f.status),
      last_sequence = greatest(m.last_sequence, f.sequence),
      relay_message_id = coalesce(f.relay_id, m.relay_message_id)
    FROM (SELECT account_id, message_id, max(status::message_status) AS status, max(sequence) AS sequence, max(relay_id) AS relay_id
          FROM fresh GROUP BY account_id, message_id) f
    WHERE m.account_id = f.account_id AND m.id = f.message_id AND m.id BETWEEN earliest AND latest
  )
  SELECT array_agg(f.n) INTO recorded FROM fresh f;

  -- A batch of `sent` events, the most frequent one, ends here.
  IF cardinality(array_remove(p_hook, NULL)) > 0 THEN
    WITH wanted AS (
      INSERT INTO webhook_deliveries AS d (account_id, endpoint_id, id, message_id, event_id, event_type)
      SELECT t.account_id, w.id, uuid_at(moment + t.n * interval '1 microsecond'), t.message_id, t.event_id, t.hook
      FROM unnest(p_account_id, p_message_id, p_event_id, p_hook)
        WITH ORDINALITY AS t (account_id, message_id, event_id, hook, n)
      JOIN webhook_endpoints w ON w.account_id = t.account_id
      WHERE t.n = ANY (recorded) AND t.hook IS NOT NULL
        AND w.disabled_at IS NULL AND (w.event_types IS NULL OR t.hook = ANY (w.event_types))
      RETURNING d.account_id, d.endpoint_id, d.id, d.message_id, d.event_id
    )
    INSERT INTO webhook_due (account_id, endpoint_id, delivery_id, message_id, event_id, due_at)
    SELECT w.account_id, w.endpoint_id, w.id, w.message_id, w.event_id, moment FROM wanted w;
  END IF;

  RETURN QUERY SELECT unnest(recorded);
END $$;

-- Records a batch of events: event rows, the message's status and sequence, and the webhook rows, together. Answers the
-- positions that were new. One call is one transaction's part: no event without its rows, no row without its event.
-- Never scans from end to end: see accept_sends.sql.
--
-- p_home: the accounts of the batch, where the tables are distributed; all of one shard, so that each statement is one task of one
-- node. Null where they are not: then the condition is nothing to the planner.
CREATE OR REPLACE FUNCTION record_events(
  -- The events, a column each: EVENT_COLUMNS of src/events/record.ts, called by name. Here p_name is unnested as name.
  p_account_id bigint[], p_message_id uuid[], p_event_id uuid[], p_kind text[], p_status text[], p_hook text[],
  p_recipients text[], p_detail text[], p_relay_id text[], p_home bigint[]
) RETURNS SETOF bigint LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
  moment timestamptz;
  -- Bounds let the planner leave all other days' partitions alone.
  earliest CONSTANT uuid := (SELECT m FROM unnest(p_message_id) m ORDER BY m LIMIT 1);
  latest CONSTANT uuid := (SELECT m FROM unnest(p_message_id) m ORDER BY m DESC LIMIT 1);
  -- Of the messages, as they are under the lock.
  account_ids bigint[];
  ids uuid[];
  last_sequences integer[];
  relay_message_ids text[];
  -- Of the new events: their positions, and what each has of its message.
  recorded bigint[];
  ranks CONSTANT message_status[] := p_status::message_status[];
  sequences integer[];
  relay_ids text[];
  -- The webhook rows: an endpoint and a position each.
  endpoints uuid[];
  positions bigint[];
  delivery_ids uuid[];
BEGIN
  IF cardinality(p_event_id) = 0 THEN RETURN; END IF;
  SELECT array_agg(m.account_id), array_agg(m.id), array_agg(m.last_sequence), array_agg(m.relay_message_id)
  INTO account_ids, ids, last_sequences, relay_message_ids
  FROM (
    SELECT m.account_id, m.id, m.last_sequence, m.relay_message_id FROM messages m
    WHERE m.id BETWEEN earliest AND latest AND (p_home IS NULL OR m.account_id = ANY (p_home))
      AND (m.account_id, m.id) IN (SELECT * FROM unnest(p_account_id, p_message_id))
    ORDER BY m.account_id, m.id FOR UPDATE
  ) m;
  -- Under the lock, so that times rise with the sequence. A microsecond apart, so that the timeline keeps the order they came in.
  moment := clock_timestamp();

  SELECT array_agg(f.n), array_agg(f.sequence), array_agg(f.relay_id_then) INTO recorded, sequences, relay_ids
  FROM (
    SELECT i.n,
           CASE WHEN i.hook IS NOT NULL THEN m.last_sequence + count(i.hook) OVER earlier END AS sequence,
           CASE WHEN i.hook IS NOT NULL THEN coalesce(max(i.relay_id) OVER earlier, m.relay_message_id, '') END AS relay_id_then
    FROM (
      SELECT DISTINCT ON (t.account_id, t.message_id, t.event_id) t.*
      FROM unnest(p_account_id, p_message_id, p_event_id, p_hook, p_relay_id)
        WITH ORDINALITY AS t (account_id, message_id, event_id, hook, relay_id, n)
      ORDER BY t.account_id, t.message_id, t.event_id, t.n
    ) i
    JOIN unnest(account_ids, ids, last_sequences, relay_message_ids)
      AS m (account_id, id, last_sequence, relay_message_id) ON m.account_id = i.account_id AND m.id = i.message_id
    WHERE NOT EXISTS (
      SELECT FROM events e
      WHERE e.account_id = i.account_id AND e.message_id = i.message_id AND e.id = i.event_id
        AND e.message_id BETWEEN earliest AND latest AND (p_home IS NULL OR e.account_id = ANY (p_home)))
    WINDOW earlier AS (PARTITION BY i.account_id, i.message_id ORDER BY i.n)
  ) f;
  IF recorded IS NULL THEN RETURN; END IF;

  INSERT INTO events (account_id, message_id, id, kind, at, sequence, recipients, detail, relay_message_id)
  SELECT t.account_id, t.message_id, t.event_id, t.kind, moment + t.n * interval '1 microsecond', f.sequence,
         t.recipients::text[], t.detail::jsonb, f.relay_id
  FROM unnest(p_account_id, p_message_id, p_event_id, p_kind, p_recipients, p_detail)
    WITH ORDINALITY AS t (account_id, message_id, event_id, kind, recipients, detail, n)
  JOIN unnest(recorded, sequences, relay_ids) AS f (recorded, sequence, relay_id) ON f.recorded = t.n;

  UPDATE messages m SET
    status = greatest(m.status, f.status),
    last_sequence = greatest(m.last_sequence, f.sequence),
    relay_message_id = coalesce(f.relay_id, m.relay_message_id),
    -- What happened, happened: a process that had been taken for dead did hand it over.
    cancelled_at = NULL
  FROM (SELECT t.account_id, t.message_id, max(t.rank) AS status, max(r.sequence) AS sequence,
               max(t.relay_id) AS relay_id
        FROM unnest(p_account_id, p_message_id, ranks, p_relay_id)
          WITH ORDINALITY AS t (account_id, message_id, rank, relay_id, n)
        JOIN unnest(recorded, sequences) AS r (recorded, sequence) ON r.recorded = t.n
        GROUP BY t.account_id, t.message_id) f
  WHERE m.account_id = f.account_id AND m.id = f.message_id AND m.id BETWEEN earliest AND latest
    AND (p_home IS NULL OR m.account_id = ANY (p_home));

  -- A batch of `sent` events, the most frequent one, ends here.
  IF cardinality(array_remove(p_hook, NULL)) > 0 THEN
    SELECT array_agg(w.id), array_agg(t.n), array_agg(uuid_at(moment + t.n * interval '1 microsecond'))
    INTO endpoints, positions, delivery_ids
    FROM unnest(p_account_id, p_hook) WITH ORDINALITY AS t (account_id, hook, n)
    JOIN webhook_endpoints w ON w.account_id = t.account_id AND (p_home IS NULL OR w.account_id = ANY (p_home))
    WHERE t.n = ANY (recorded) AND t.hook IS NOT NULL
      AND w.disabled_at IS NULL AND (w.event_types IS NULL OR t.hook = ANY (w.event_types));
    IF endpoints IS NOT NULL THEN
      INSERT INTO webhook_deliveries (account_id, endpoint_id, id, message_id, event_id, event_type)
      SELECT t.account_id, w.endpoint, w.delivery_id, t.message_id, t.event_id, t.hook
      FROM unnest(p_account_id, p_message_id, p_event_id, p_hook)
        WITH ORDINALITY AS t (account_id, message_id, event_id, hook, n)
      JOIN unnest(endpoints, positions, delivery_ids) AS w (endpoint, position, delivery_id) ON w.position = t.n;
      INSERT INTO webhook_due (account_id, endpoint_id, delivery_id, message_id, event_id, due_at)
      SELECT t.account_id, w.endpoint, w.delivery_id, t.message_id, t.event_id, moment
      FROM unnest(p_account_id, p_message_id, p_event_id)
        WITH ORDINALITY AS t (account_id, message_id, event_id, n)
      JOIN unnest(endpoints, positions, delivery_ids) AS w (endpoint, position, delivery_id) ON w.position = t.n;
    END IF;
  END IF;

  RETURN QUERY SELECT unnest(recorded);
END $$;

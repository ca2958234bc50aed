-- Records a batch of events: event rows, the message's status and sequence, and the webhook rows,
-- together. Returns the positions that were new. One call is part of one transaction: no event
-- without its rows, no row without its event. Never scans a table from end to end: see
-- accept_sends.sql. p_home: the accounts of the batch, if the tables are distributed; all in one
-- shard, so that each statement is one task of one node. Otherwise null.
--
-- Its plans are made once per connection and name every day: which are read is decided when they
-- run. Planning each time took almost half of a batch of five. choose_plans.sql says when they are
-- not kept.
CREATE OR REPLACE FUNCTION record_events(
  -- The events, a column each: EVENT_COLUMNS of src/events/record.ts, called by name. Here p_name
  -- is unnested as name.
  p_account_id bigint[], p_message_id uuid[], p_event_id uuid[], p_kind text[], p_status text[], p_hook text[],
  p_recipients text[], p_detail text[], p_relay_id text[], p_home bigint[]
) RETURNS SETOF bigint LANGUAGE plpgsql SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  moment timestamptz;
  -- Bounds leave all other days' partitions alone.
  earliest CONSTANT uuid := (SELECT m FROM unnest(p_message_id) m ORDER BY m LIMIT 1);
  latest CONSTANT uuid := (SELECT m FROM unnest(p_message_id) m ORDER BY m DESC LIMIT 1);
  -- Of the messages, as they are under the lock.
  account_ids bigint[];
  ids uuid[];
  last_sequences integer[];
  relay_message_ids text[];
  untouched boolean;
  ranks CONSTANT message_status[] := p_status::message_status[];
  -- Positions of what was recorded before.
  known bigint[];
  -- The new events, a column each: their positions, and what they and their messages become. Each
  -- statement below reads them as they are, since on Citus it is planned twice, and every join in
  -- it as well.
  n_position bigint[];
  n_account_id bigint[];
  n_message_id uuid[];
  n_event_id uuid[];
  n_kind text[];
  n_recipients text[];
  n_detail text[];
  n_sequence integer[];
  n_relay_id text[];
  m_status message_status[];
  m_sequence integer[];
  m_relay_id text[];
  -- The webhook rows: an endpoint and a position each.
  endpoints uuid[];
  positions bigint[];
  delivery_ids uuid[];
  recorded bigint;
BEGIN
  IF cardinality(p_event_id) = 0 THEN RETURN; END IF;
  PERFORM choose_plans(p_home);
  SELECT array_agg(m.account_id), array_agg(m.id), array_agg(m.last_sequence), array_agg(m.relay_message_id), bool_and(m.status = 'queued')
  INTO account_ids, ids, last_sequences, relay_message_ids, untouched
  FROM (
    SELECT m.account_id, m.id, m.last_sequence, m.relay_message_id, m.status FROM messages m
    WHERE m.id BETWEEN earliest AND latest AND (p_home IS NULL OR m.account_id = ANY (p_home))
      AND (m.account_id, m.id) IN (SELECT * FROM unnest(p_account_id, p_message_id))
    ORDER BY m.account_id, m.id FOR UPDATE
  ) m;
  -- Under the lock, so that times rise with the sequence. A microsecond apart, so that the timeline
  -- keeps the order they came in.
  moment := clock_timestamp();

  -- Each of them raises the status, so a queued message has none of them. Most batches are the
  -- first of their messages.
  IF NOT untouched OR array_position(ranks, NULL) IS NOT NULL THEN
    SELECT array_agg(t.n) INTO known
    FROM unnest(p_account_id, p_message_id, p_event_id) WITH ORDINALITY AS t (account_id, message_id, event_id, n)
    JOIN events e ON e.account_id = t.account_id AND e.message_id = t.message_id AND e.id = t.event_id
    WHERE e.message_id BETWEEN earliest AND latest AND (p_home IS NULL OR e.account_id = ANY (p_home));
  END IF;

  SELECT array_agg(f.n), array_agg(f.account_id), array_agg(f.message_id), array_agg(f.event_id), array_agg(f.kind),
         array_agg(f.recipients), array_agg(f.detail), array_agg(f.sequence), array_agg(f.relay_id_then),
         array_agg(f.highest), array_agg(f.last_sequence), array_agg(f.last_relay_id)
  INTO n_position, n_account_id, n_message_id, n_event_id, n_kind, n_recipients, n_detail, n_sequence, n_relay_id,
       m_status, m_sequence, m_relay_id
  FROM (
    SELECT i.*,
           CASE WHEN i.hook IS NOT NULL THEN m.last_sequence + count(i.hook) OVER earlier END AS sequence,
           CASE WHEN i.hook IS NOT NULL THEN coalesce(max(i.relay_id) OVER earlier, m.relay_message_id, '') END AS relay_id_then,
           max(i.rank) OVER every AS highest,
           m.last_sequence + count(i.hook) OVER every AS last_sequence,
           max(i.relay_id) OVER every AS last_relay_id
    FROM (
      SELECT DISTINCT ON (t.account_id, t.message_id, t.event_id) t.*
      FROM unnest(p_account_id, p_message_id, p_event_id, p_kind, ranks, p_hook, p_recipients, p_detail, p_relay_id)
        WITH ORDINALITY AS t (account_id, message_id, event_id, kind, rank, hook, recipients, detail, relay_id, n)
      ORDER BY t.account_id, t.message_id, t.event_id, t.n
    ) i
    JOIN unnest(account_ids, ids, last_sequences, relay_message_ids)
      AS m (account_id, id, last_sequence, relay_message_id) ON m.account_id = i.account_id AND m.id = i.message_id
    WHERE known IS NULL OR i.n <> ALL (known)
    WINDOW every AS (PARTITION BY i.account_id, i.message_id), earlier AS (every ORDER BY i.n)
  ) f;
  IF n_position IS NULL THEN RETURN; END IF;

  INSERT INTO events (account_id, message_id, id, kind, at, sequence, recipients, detail, relay_message_id)
  SELECT n.account_id, n.message_id, n.event_id, n.kind, moment + n.position * interval '1 microsecond', n.sequence,
         n.recipients::text[], n.detail::jsonb, n.relay_id
  FROM unnest(n_position, n_account_id, n_message_id, n_event_id, n_kind, n_recipients, n_detail, n_sequence, n_relay_id)
    AS n (position, account_id, message_id, event_id, kind, recipients, detail, sequence, relay_id);

  -- A message with several events is here as often, each time with the same values.
  UPDATE messages m SET
    status = greatest(m.status, n.status),
    last_sequence = n.sequence,
    relay_message_id = coalesce(n.relay_id, m.relay_message_id),
    -- What happened, happened: a process that had been taken for dead did hand it over.
    cancelled_at = NULL
  FROM unnest(n_account_id, n_message_id, m_status, m_sequence, m_relay_id) AS n (account_id, message_id, status, sequence, relay_id)
  WHERE m.account_id = n.account_id AND m.id = n.message_id AND m.id BETWEEN earliest AND latest
    AND (p_home IS NULL OR m.account_id = ANY (p_home));

  -- A batch of `sent` events, the most frequent one, ends here.
  IF cardinality(array_remove(p_hook, NULL)) > 0 THEN
    SELECT array_agg(w.id), array_agg(t.n), array_agg(uuid_at(moment + t.n * interval '1 microsecond'))
    INTO endpoints, positions, delivery_ids
    FROM unnest(p_account_id, p_hook) WITH ORDINALITY AS t (account_id, hook, n)
    JOIN webhook_endpoints w ON w.account_id = t.account_id AND (p_home IS NULL OR w.account_id = ANY (p_home))
    WHERE t.n = ANY (n_position) AND t.hook IS NOT NULL
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

  FOREACH recorded IN ARRAY n_position LOOP
    RETURN NEXT recorded;
  END LOOP;
END $$;

-- Webhooks: endpoints, the log of deliveries, and the due rows. Rows are written by record_events (below) together with
-- their event, worked off by src/webhooks/worker.ts.

CREATE TABLE webhook_endpoints (
  account_id bigint NOT NULL REFERENCES accounts ON DELETE CASCADE,
  id uuid NOT NULL,
  url text NOT NULL,
  event_types text[],                    -- null: all
  fifo boolean NOT NULL DEFAULT false,   -- one at a time, in the order of the events
  secret text NOT NULL,
  previous_secret text,                  -- signs beside the new one until previous_until
  previous_until timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  disabled_at timestamptz,
  disabled_reason text CHECK (disabled_reason IN ('owner', 'gone', 'failing')),
  -- How it does (src/webhooks/health.ts).
  failures integer NOT NULL DEFAULT 0,   -- failed attempts since the last success
  failing_since timestamptz,
  paused_until timestamptz,
  -- One worker at a time serves an endpoint. The lease covers all its due rows: claiming writes no row of them, and
  -- concurrency and order hold over any number of workers.
  lease uuid,
  leased_until timestamptz,
  PRIMARY KEY (account_id, id),
  CHECK ((disabled_at IS NULL) = (disabled_reason IS NULL)),
  CHECK ((previous_secret IS NULL) = (previous_until IS NULL))
) WITH (fillfactor = 50);

-- The log: one row per event and endpoint, partitioned by its own id, which is by time. Dropping a day's partition costs
-- nothing; a DELETE of as many rows would cost as much as writing them.
CREATE TABLE webhook_deliveries (
  account_id bigint NOT NULL,
  endpoint_id uuid NOT NULL,
  id uuid NOT NULL,
  message_id uuid NOT NULL,
  event_id uuid NOT NULL,
  event_type text NOT NULL,
  state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'delivered', 'abandoned')),
  attempts integer NOT NULL DEFAULT 0,
  -- How the last attempt ended. The request is built anew from the event, which never changes.
  attempted_at timestamptz,
  status integer,
  response text,
  response_truncated boolean NOT NULL DEFAULT false,
  error text,
  duration_ms integer,
  finished_at timestamptz,
  PRIMARY KEY (account_id, endpoint_id, id),
  CHECK ((state = 'pending') = (finished_at IS NULL))
) PARTITION BY RANGE (id);

-- What is to be sent, and when: inserted, perhaps put off, deleted. Small, so that a backlog is cheap to keep.
CREATE TABLE webhook_due (
  account_id bigint NOT NULL,
  endpoint_id uuid NOT NULL,
  delivery_id uuid NOT NULL,    -- in the order of the events
  message_id uuid NOT NULL,
  event_id uuid NOT NULL,
  due_at timestamptz NOT NULL,
  attempts integer NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id, endpoint_id, delivery_id)
);
-- By endpoint first: who looks for work jumps from endpoint to endpoint and never wades through one's backlog.
CREATE INDEX webhook_due_due_at ON webhook_due (account_id, endpoint_id, due_at);

-- The relay's id of the message as it was at the event: a body must have the same bytes in every attempt.
-- '' when the relay never had the mail; null for kinds that no webhook carries, and in rows older than this column.
ALTER TABLE events ADD COLUMN relay_message_id text;
-- For replays of a time window and for `webhook listen`. The many `sent` events are not in it.
CREATE INDEX events_hook_at ON events (account_id, at) WHERE sequence IS NOT NULL;

-- An id like those of src/ids.ts: milliseconds in 48 bits, then the microseconds, then chance.
CREATE FUNCTION uuid_at(p_at timestamptz) RETURNS uuid LANGUAGE sql VOLATILE AS $$
  SELECT (lpad(to_hex(trunc(extract(epoch FROM p_at) * 1000)::bigint), 12, '0')
          || lpad(to_hex(extract(microseconds FROM p_at)::bigint % 1000), 4, '0')
          || right(replace(gen_random_uuid()::text, '-', ''), 16))::uuid
$$;

-- Records a batch of events: event rows, the message's status and sequence, and the webhook rows, together. Answers the
-- positions that were new. One call is one statement of one transaction: no event without its rows, no row without its event.
CREATE OR REPLACE FUNCTION record_events(
  p_account bigint[], p_message uuid[], p_event uuid[], p_kind text[], p_status text[], p_hook text[],
  p_recipients text[], p_detail text[], p_relay_id text[]
) RETURNS SETOF bigint LANGUAGE plpgsql AS $$
DECLARE
  moment timestamptz;
  -- Bounds let the planner leave all other days' partitions alone.
  earliest CONSTANT uuid := (SELECT m FROM unnest(p_message) m ORDER BY m LIMIT 1);
  latest CONSTANT uuid := (SELECT m FROM unnest(p_message) m ORDER BY m DESC LIMIT 1);
  recorded bigint[];
BEGIN
  PERFORM FROM messages m
  WHERE m.id BETWEEN earliest AND latest
    AND (m.account_id, m.id) IN (SELECT * FROM unnest(p_account, p_message))
  ORDER BY m.account_id, m.id FOR UPDATE;
  -- Under the lock, so that times rise with the sequence. A microsecond apart, so that the timeline keeps the order they came in.
  moment := clock_timestamp();

  WITH incoming AS (
    SELECT DISTINCT ON (t.account_id, t.message_id, t.event_id) t.*
    FROM unnest(p_account, p_message, p_event, p_kind, p_status, p_hook, p_recipients, p_detail, p_relay_id)
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
      FROM unnest(p_account, p_message, p_event, p_hook) WITH ORDINALITY AS t (account_id, message_id, event_id, hook, n)
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

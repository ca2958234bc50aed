-- Webhooks: endpoints, the log of deliveries, and the due rows. Rows are written by record_events (functions/) together with
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

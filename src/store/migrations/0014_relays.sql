-- The ways out, for operators (src/relays). No account's data: small tables that every process reads.
-- Without a row mail goes to RELAY_URL, or into the sandbox.
CREATE TABLE relays (
  name text PRIMARY KEY,
  url bytea,                              -- sealed: it holds the password. NULL: what RELAY_URL says
  weight integer NOT NULL DEFAULT 1 CHECK (weight >= 0),
  connections integer CHECK (connections > 0),          -- of one process. NULL: RELAY_CONNECTIONS
  rate_per_second integer CHECK (rate_per_second > 0),  -- over all processes. NULL: no limit
  daily_limit integer CHECK (daily_limit > 0),          -- over all processes, a UTC day. NULL: no limit
  enabled boolean NOT NULL DEFAULT true,
  rules jsonb NOT NULL DEFAULT '[]',      -- which mail it is for
  created_at timestamptz NOT NULL DEFAULT now()
);

-- What delivery processes took of the daily limits, a handful of mails at a time.
CREATE TABLE relay_usage (
  relay text NOT NULL,
  day date NOT NULL,
  used integer NOT NULL,
  PRIMARY KEY (relay, day)
);

-- How the process finds each of its relays: [{name, down, detail}].
ALTER TABLE delivery_processes ADD COLUMN relays jsonb;

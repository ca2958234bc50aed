-- The dashboard: people and their sessions, suspended accounts, counted hours, and what makes searching messages quick.

-- People -------------------------------------------------------------------------------------------------------

CREATE TABLE users (
  id uuid PRIMARY KEY,
  email text NOT NULL UNIQUE,             -- normalised
  name text NOT NULL,
  password text NOT NULL,                 -- scrypt with its parameters and salt (src/people/passwords.ts)
  operator boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE members (
  account_id bigint NOT NULL REFERENCES accounts ON DELETE CASCADE,
  user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
  role text NOT NULL CHECK (role IN ('viewer', 'developer', 'owner')),
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (account_id, user_id)
);
CREATE INDEX members_user ON members (user_id);

-- One-time links. Only the hash is kept: who reads the table cannot use the link.
CREATE TABLE invitations (
  account_id bigint NOT NULL REFERENCES accounts ON DELETE CASCADE,
  id uuid NOT NULL,
  email text NOT NULL,
  role text NOT NULL CHECK (role IN ('viewer', 'developer', 'owner')),
  invited_by text NOT NULL,
  token_hash bytea NOT NULL UNIQUE,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, id),
  UNIQUE (account_id, email)              -- inviting again replaces the link
);

CREATE TABLE sessions (
  id uuid PRIMARY KEY,
  user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
  account_id bigint REFERENCES accounts ON DELETE SET NULL,   -- the one it works in; null: an operator of none
  hash bytea NOT NULL UNIQUE,             -- SHA-256 of the cookie
  -- Requests that were under way while the cookie changed still carry the one before.
  previous_hash bytea UNIQUE,
  previous_until timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  rotated_at timestamptz NOT NULL DEFAULT now(),
  seen_at timestamptz NOT NULL DEFAULT now(),
  CHECK ((previous_hash IS NULL) = (previous_until IS NULL))
) WITH (fillfactor = 70);
CREATE INDEX sessions_user ON sessions (user_id);

-- Tries to sign in, by address and by client. The row lock makes the count exact across processes.
CREATE TABLE sign_in_tries (
  subject text PRIMARY KEY,               -- 'address …' or 'client …'
  tries integer NOT NULL,
  began_at timestamptz NOT NULL
) WITH (fillfactor = 70);

-- Accounts -----------------------------------------------------------------------------------------------------

ALTER TABLE accounts
  ADD COLUMN suspended_at timestamptz,
  ADD COLUMN suspended_reason text,
  ADD CHECK ((suspended_at IS NULL) = (suspended_reason IS NULL));
CREATE TRIGGER account_suspended BEFORE UPDATE OF suspended_at, suspended_reason ON accounts
  FOR EACH ROW EXECUTE FUNCTION raise_own_version();

-- Messages per hour, by the status they had when they were last counted: a page with 90 days of figures must not count
-- 90 days of messages. Filled when somebody looks (src/messages/volume.ts); sending never writes here.
CREATE TABLE message_hours (
  account_id bigint NOT NULL REFERENCES accounts ON DELETE CASCADE,
  hour timestamptz NOT NULL,
  counts bigint[] NOT NULL,               -- in the order of message_status
  counted_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (account_id, hour)
);

-- Searching ----------------------------------------------------------------------------------------------------

-- Bounces and complaints are rare, so finding them must not mean reading everything else. The index is on events, which are
-- never updated: one on messages that names the status would make every change of status an index write (no HOT updates).
-- Sent, delivered and opened are not in it, so most events pay nothing for it.
CREATE INDEX events_outcomes ON events (account_id, kind, message_id)
  WHERE kind IN ('clicked', 'bounced', 'complained');

-- What a message is found by exactly, as numbers: each recipient and each tag, together with the account. Indexed (GIN) on a
-- day's partition when the day is over (src/messages/search-index.ts). On the day itself an index would cost every send:
-- measured, a B-tree on the first recipient +16 % of the server's time, a GIN on all of them less at once but more later, in bursts.
-- plpgsql takes a third of the time that the same takes in SQL. Dear, so that the planner goes by the index.
CREATE FUNCTION message_tokens(p_account bigint, p_recipients text[], p_tags text[]) RETURNS integer[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 10000 AS $$
DECLARE
  tokens integer[] := '{}';
  word text;
BEGIN
  FOREACH word IN ARRAY p_recipients LOOP
    tokens := tokens || hashtext(p_account || ' ' || lower(word));
  END LOOP;
  FOREACH word IN ARRAY coalesce(p_tags, '{}') LOOP
    tokens := tokens || hashtext(p_account || ' tag ' || lower(word));
  END LOOP;
  RETURN tokens;
END $$;

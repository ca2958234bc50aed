-- Streams: the kinds of email an account sends. An unsubscribe holds for its stream; bounces,
-- complaints and what people add by hand hold for all of them (suppressions).

-- `transactional` is every account's and needs no row; a row gives it a title or a setting.
CREATE TABLE streams (
  account_id bigint NOT NULL REFERENCES accounts ON DELETE CASCADE,
  name text NOT NULL CHECK (name ~ '^[a-z0-9]+(-[a-z0-9]+)*$' AND length(name) <= 64),
  kind text NOT NULL CHECK (kind IN ('transactional', 'broadcast')),
  title text NOT NULL,                    -- what recipients call it
  description text NOT NULL,              -- what they get when they stay
  unsubscribe boolean,                    -- whether they can leave; null: as the account's one_click_unsubscribe says
  created_at timestamptz NOT NULL DEFAULT now(),
  archived_at timestamptz,                -- sends refuse it; who left it has left it all the same
  PRIMARY KEY (account_id, name),
  CHECK (kind = 'transactional' OR coalesce(unsubscribe, false)),
  CHECK (name <> 'transactional' OR (kind = 'transactional' AND archived_at IS NULL))
);

-- Who left which stream. By address first: a mail asks for one, the preference page for all.
CREATE TABLE unsubscribes (
  account_id bigint NOT NULL REFERENCES accounts ON DELETE CASCADE,
  address text NOT NULL,                  -- normalised
  stream text NOT NULL,                   -- '*': every stream that can be left, also those made later
  origin text NOT NULL,                   -- src/events/origins.ts
  message_id uuid,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (account_id, address, stream)
);

-- Who unsubscribed before there were streams was told "no more mail from this sender": they have
-- left the stream that everything went through, and whatever is made later.
INSERT INTO unsubscribes (account_id, address, stream, origin, message_id, created_at)
SELECT s.account_id, s.address, left_stream, 'recipient', s.message_id, s.created_at
FROM suppressions s CROSS JOIN unnest(ARRAY['transactional', '*']) AS left_stream
WHERE s.reason = 'unsubscribe';
DELETE FROM suppressions WHERE reason = 'unsubscribe';

ALTER TABLE messages ADD COLUMN stream text;            -- null: transactional
ALTER TABLE account_templates ADD COLUMN stream text;   -- what its emails go through; null: transactional

-- `subscription` is about an address and not about a message: its message_id is its own id, which
-- no message has.
ALTER TABLE events DROP CONSTRAINT events_kind_check;
ALTER TABLE events ADD CONSTRAINT events_kind_check CHECK (kind IN
  ('sent', 'delivered', 'opened', 'clicked', 'bounced', 'complained', 'subscription')) NOT VALID;

-- It has one argument more now (../functions/accept_sends.sql).
DROP FUNCTION IF EXISTS accept_sends(uuid[], bigint[], text[], text[], integer[], text[], text[], text[], integer[],
  integer[], text[], uuid[], bytea[], bytea[], bytea[], bytea[], text[], bytea[], integer[], integer[], integer[],
  integer[], boolean, integer, integer);

-- Lanes: a due mail stands in the lane of its account, in a class, in one of four states (drawn in docs/flow.md).
-- Leases: held by delivery processes, by the database's clock. Attempts that did not end the matter are kept.

CREATE TYPE due_state AS ENUM (
  'ready',      -- in its lane: whoever comes next may take it
  'in hand',    -- a process has it; ready again when that process's lease ends
  'waiting',    -- not before due_at: deferred by the relay, or scheduled
  'set aside'   -- it cannot be worked on; waits for a person, with the reason
);

ALTER TABLE due_messages
  ADD COLUMN state due_state NOT NULL DEFAULT 'ready',
  ADD COLUMN class smallint NOT NULL DEFAULT 1 CHECK (class BETWEEN 0 AND 2), -- 0 urgent, 1 normal, 2 bulk
  ADD COLUMN claims integer NOT NULL DEFAULT 0,    -- rises with every claim: whoever recorded an older one comes too late
  ADD COLUMN deaths smallint NOT NULL DEFAULT 0,   -- how often in a row a process died with it in hand
  ADD COLUMN unknown text[],                       -- those of `remaining` of whom nobody knows whether the relay has the mail
  ADD COLUMN set_aside_at timestamptz,
  ADD COLUMN reason text,
  ADD CONSTRAINT due_messages_reason CHECK ((state = 'set aside') = (reason IS NOT NULL));

-- What an older process has in hand: due when its lease would have ended.
UPDATE due_messages SET lease = NULL, state = 'waiting' WHERE due_at > now();

-- One for each state, so that nothing is stepped over: a claim reads only what is ready, however much waits. A row stands in
-- one of them at a time, so accepting and claiming write as many index entries as with the one index before.
DROP INDEX due_messages_due_at;
CREATE INDEX due_messages_ready ON due_messages (account_id, class, due_at) WHERE state = 'ready';
CREATE INDEX due_messages_in_hand ON due_messages (account_id) WHERE state = 'in hand';
CREATE INDEX due_messages_waiting ON due_messages (due_at) WHERE state = 'waiting';
CREATE INDEX due_messages_set_aside ON due_messages (account_id, message_id) WHERE state = 'set aside';

-- A row for each delivery process. As long as it is there, what the process has in hand is its own.
CREATE TABLE delivery_leases (
  id uuid PRIMARY KEY,
  held_until timestamptz NOT NULL,
  embedded boolean NOT NULL DEFAULT false   -- of the process that runs the embedded database, of which there is one
) WITH (fillfactor = 20);

-- Attempts after which somebody still had to wait, and the relay's reports of delays. No events: the mail is still under way.
CREATE TABLE delivery_attempts (
  account_id bigint NOT NULL,
  message_id uuid NOT NULL,
  id uuid NOT NULL,             -- made from what it tells, so that the same is kept once
  at timestamptz NOT NULL DEFAULT now(),
  attempt integer,              -- null: a report of the relay
  server text NOT NULL,         -- who was asked, or who reported
  recipients jsonb NOT NULL,    -- [{recipient, result, reply}]
  next_at timestamptz,          -- null: there is none
  PRIMARY KEY (account_id, message_id, id)
);
CREATE INDEX delivery_attempts_at ON delivery_attempts (at);

ALTER TABLE accounts
  ADD COLUMN unknown_outcome text NOT NULL DEFAULT 'send_again' CHECK (unknown_outcome IN ('send_again', 'count_as_sent')),
  ADD COLUMN delivery_limit integer CHECK (delivery_limit > 0);   -- mails in hand at a time, over all processes; null: no limit

-- accept_sends takes the class of each mail.
DROP FUNCTION IF EXISTS accept_sends(
  uuid[], bigint[], text[], text[], integer[], text[], text[], text[], integer[], integer[], text[], uuid[],
  bytea[], bytea[], bytea[], bytea[], text[], bytea[], integer[], integer[], integer[], boolean, integer, integer);

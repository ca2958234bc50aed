-- Emails that a person has to approve (src/approvals), and further rules of agents' keys
-- (src/accounts/agent-limits.ts).

ALTER TABLE api_keys
  ADD COLUMN approval text NOT NULL DEFAULT 'never'
    CHECK (approval IN ('never', 'always', 'first_contact', 'outside_domain')),
  ADD COLUMN own_messages boolean NOT NULL DEFAULT false,  -- it may read only what it sent itself
  ADD COLUMN senders text[],                               -- mailboxes it may write from; null: as the account
  ADD COLUMN reply_to text[],                              -- addresses and domains that answers may go to
  ADD COLUMN link_hosts text[];                            -- hosts that links may lead to; null: any

-- A held email is a message with its content and no due row: nobody can hand it over. Approving it
-- makes the due row, in the transaction that notes the approval here.
CREATE TABLE approvals (
  account_id bigint NOT NULL,
  message_id uuid NOT NULL,
  key_id uuid,                            -- through which it came: it never decides itself
  reason text NOT NULL,                   -- the rule that holds it
  sha256 bytea NOT NULL,                  -- of everything that is sent (src/approvals/fingerprint.ts)
  size integer NOT NULL,                  -- of the due row to come, as is the class
  class smallint NOT NULL,
  expires_at timestamptz NOT NULL,
  told_at timestamptz,                    -- when the approvers were written to
  state text NOT NULL DEFAULT 'waiting'
    CHECK (state IN ('waiting', 'approved', 'declined', 'expired', 'cancelled')),
  decided_at timestamptz,
  decided_by text,                        -- a person's address, a key's id, or a command
  PRIMARY KEY (account_id, message_id),
  CONSTRAINT approvals_decided CHECK ((state = 'waiting') = (decided_at IS NULL))
);
CREATE INDEX approvals_waiting ON approvals (account_id, expires_at) WHERE state = 'waiting';

-- One-time links that approvers got by email. Only a hash is kept; a decision removes all of them.
CREATE TABLE approval_links (
  account_id bigint NOT NULL,
  token_hash bytea NOT NULL,
  message_id uuid NOT NULL,
  user_id uuid NOT NULL,
  sha256 bytea NOT NULL,                  -- of what they were told of
  PRIMARY KEY (account_id, token_hash)
);
CREATE INDEX approval_links_message ON approval_links (account_id, message_id);

ALTER TABLE notices
  DROP CONSTRAINT notices_kind_check,
  ADD CONSTRAINT notices_kind_check CHECK (kind IN ('new-sign-in', 'new-key', 'approval'));

-- Without p_approval.
DROP FUNCTION IF EXISTS accept_sends(
  uuid[], bigint[], text[], text[], integer[], text[], text[], text[], integer[], integer[],
  text[], text[], uuid[], bytea[], bytea[], bytea[], bytea[], text[], bytea[], integer[], integer[],
  integer[], integer[], timestamptz[], boolean, integer, integer, boolean);

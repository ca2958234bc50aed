-- The mailbox for tests: whose mail a captured one is, and what tests look for in it, read once when
-- it is captured. What an earlier version captured has no account, and only operators see it.
ALTER TABLE sandbox_mails
  ADD account_id bigint,
  ADD message_id uuid,
  ADD door text,
  ADD header_from text NOT NULL DEFAULT '',
  ADD subject text NOT NULL DEFAULT '',
  ADD codes text[] NOT NULL DEFAULT '{}',
  ADD links jsonb NOT NULL DEFAULT '[]';
CREATE INDEX sandbox_mails_account ON sandbox_mails (account_id, id);

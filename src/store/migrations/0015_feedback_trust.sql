-- Reports that count, and links that do not lead anywhere any more.

-- Why a mail was kept instead of recorded (feedback/kept.ts), and the network it came from, of which each has a share.
ALTER TABLE feedback_mails
  ADD COLUMN why text NOT NULL DEFAULT '',
  ADD COLUMN network text NOT NULL DEFAULT '';

-- Links that an operator switched off: one target of a message, or with '' all of its links.
CREATE TABLE disabled_links (
  account_id bigint NOT NULL,
  message_id uuid NOT NULL,
  url text NOT NULL,
  reason text NOT NULL,
  disabled_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (account_id, message_id, url)
);

-- Hosts that no tracked link of any account leads to any more, with all names below them. A short list of the operator's.
CREATE TABLE disabled_link_hosts (
  host text PRIMARY KEY,
  reason text NOT NULL,
  disabled_at timestamptz NOT NULL DEFAULT now()
);

-- What happens after the relay: switches for tracking, domains with keys, verified addresses, mail kept for operators,
-- and what the sandbox still has to play.

ALTER TABLE accounts
  ADD COLUMN track_opens boolean NOT NULL DEFAULT true,
  ADD COLUMN track_clicks boolean NOT NULL DEFAULT true,
  ADD COLUMN one_click_unsubscribe boolean NOT NULL DEFAULT false;
CREATE TRIGGER account_tracking_changed BEFORE UPDATE OF track_opens, track_clicks, one_click_unsubscribe ON accounts
  FOR EACH ROW EXECUTE FUNCTION raise_own_version();

-- Who vouched for an identity. Only what DNS vouched for, DNS can take back (src/accounts/domains.ts).
ALTER TABLE identities ADD COLUMN verified_by text CHECK (verified_by IN ('operator', 'dns', 'link'));
UPDATE identities SET verified_by = 'operator' WHERE verified_at IS NOT NULL;

-- Domains with their DKIM keys. The private ones are AES-256-GCM under a key derived from SECRET_KEY.
CREATE TABLE domains (
  account_id bigint NOT NULL,
  domain text NOT NULL,
  challenge text NOT NULL,
  selector text NOT NULL,               -- two accounts may have the same domain: each has a selector of its own
  rsa_public text NOT NULL,             -- base64, as p= of the DNS record
  rsa_private bytea NOT NULL,
  ed25519_public text NOT NULL,
  ed25519_private bytea NOT NULL,
  return_path_seen boolean NOT NULL DEFAULT false,   -- its CNAME leads to us, so mails may use it
  checked_at timestamptz,
  findings jsonb,                       -- what the last check saw and expected
  missing_since timestamptz,            -- since when the challenge is gone
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (account_id, domain),
  FOREIGN KEY (account_id, domain) REFERENCES identities ON DELETE CASCADE
);
-- A daily check that finds everything as it was changes nothing that processes remember.
CREATE TRIGGER domain_changed AFTER UPDATE OF return_path_seen, selector ON domains
  FOR EACH ROW WHEN (OLD.return_path_seen <> NEW.return_path_seen OR OLD.selector <> NEW.selector)
  EXECUTE FUNCTION raise_account_version();
CREATE TRIGGER domain_added AFTER INSERT OR DELETE ON domains
  FOR EACH ROW EXECUTE FUNCTION raise_account_version();

-- One-time links for addresses. Only the hash is kept: who reads the table cannot use the link.
CREATE TABLE address_verifications (
  account_id bigint NOT NULL,
  address text NOT NULL,
  token_hash bytea NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, address),
  FOREIGN KEY (account_id, address) REFERENCES identities ON DELETE CASCADE
);

-- Mail to the feedback listener that made no event: auto-replies, complaints nobody can match, anything else. Kept 7 days.
CREATE TABLE feedback_mails (
  id uuid PRIMARY KEY,
  fingerprint bytea NOT NULL UNIQUE,
  received_at timestamptz NOT NULL DEFAULT now(),
  kind text NOT NULL,
  feedback_type text,
  account_id bigint,                    -- and message_id: where it was known
  message_id uuid,
  envelope_from text NOT NULL,
  recipient text NOT NULL,
  subject text NOT NULL,
  raw bytea NOT NULL
);

-- What the sandbox still has to play for a captured mail: which script, and which step of it is next.
CREATE TABLE sandbox_acts (
  id uuid PRIMARY KEY,
  mail_id uuid NOT NULL,
  script text NOT NULL,
  step integer NOT NULL DEFAULT 0,
  recipients text[] NOT NULL,
  due_at timestamptz NOT NULL,
  attempts integer NOT NULL DEFAULT 0
) WITH (fillfactor = 70);
CREATE INDEX sandbox_acts_due_at ON sandbox_acts (due_at);

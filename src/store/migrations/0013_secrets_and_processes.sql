-- What is sealed says how (its first byte), the installation knows which secret is in force, and processes tell that they live.

-- The secret in force: its own (`secret`), or SECRET_KEY, of which only the verifier is kept (src/store/installation.ts).
ALTER TABLE installation
  ALTER COLUMN secret DROP NOT NULL,
  ADD COLUMN verifier bytea,              -- null: made before there was one; the next start writes it
  ADD COLUMN secret_since timestamptz NOT NULL DEFAULT now(),
  ADD CHECK (secret IS NOT NULL OR verifier IS NOT NULL);

-- Secrets that are no longer in force. Links and return paths they signed are understood until the end.
CREATE TABLE previous_secrets (
  verifier bytea PRIMARY KEY,
  token_keys bytea NOT NULL,              -- sealed
  replaced_at timestamptz NOT NULL DEFAULT now(),
  valid_until timestamptz NOT NULL
);

-- The first byte of what is sealed: 1 is AES-256-GCM; 0 is plain text that the next start seals (src/sealing.ts).
UPDATE domains SET rsa_private = '\x01'::bytea || rsa_private, ed25519_private = '\x01'::bytea || ed25519_private;
ALTER TABLE webhook_endpoints
  ALTER COLUMN secret TYPE bytea USING '\x00'::bytea || convert_to(secret, 'UTF8'),
  ALTER COLUMN previous_secret TYPE bytea USING '\x00'::bytea || convert_to(previous_secret, 'UTF8');

-- Which processes run, and with which roles (src/store/processes.ts). The times are the database's.
CREATE TABLE processes (
  id uuid PRIMARY KEY,
  roles text[] NOT NULL,
  host text NOT NULL,
  pid integer NOT NULL,
  version text NOT NULL,
  started_at timestamptz NOT NULL DEFAULT now(),
  seen_at timestamptz NOT NULL DEFAULT now(),
  stopped_at timestamptz                  -- it took its leave; null with an old seen_at: it was killed, or cannot reach us
) WITH (fillfactor = 70);

-- Logos that accounts uploaded, by the SHA-256 of their bytes: an address means one image for ever.
-- Written and pruned by src/templates/logos.ts.
CREATE TABLE logos (
  account_id bigint NOT NULL REFERENCES accounts ON DELETE CASCADE,
  hash text NOT NULL,
  content_type text NOT NULL,
  content bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (account_id, hash)
);

-- Signing keys of a domain are changed in steps (src/accounts/key-rotation.ts): the next ones lie
-- beside those in force until DNS shows them; of the last ones only the name stays, until it is out
-- of DNS. `alignment` is whether its email can pass DMARC (src/accounts/alignment.ts).
ALTER TABLE domains
  ADD COLUMN alignment jsonb,
  ADD COLUMN keys_since timestamptz,
  ADD COLUMN next_selector text,
  ADD COLUMN next_rsa_public text,
  ADD COLUMN next_rsa_private bytea,
  ADD COLUMN next_ed25519_public text,
  ADD COLUMN next_ed25519_private bytea,
  ADD COLUMN next_seen_at timestamptz,
  ADD COLUMN retired_selector text,
  ADD COLUMN retired_at timestamptz;

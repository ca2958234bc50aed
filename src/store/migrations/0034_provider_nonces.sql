-- Words that a provider signs instead of the whole notification (src/feedback/provider-nonces.ts):
-- each stands for one notification. No account's data: pruned after two days.
CREATE TABLE provider_nonces (
  provider text NOT NULL,
  nonce bytea NOT NULL,                   -- SHA-256
  said bytea NOT NULL,                    -- SHA-256 of the notification it came with first
  seen_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (provider, nonce)
);

-- Second factors (src/people/factors.ts): authenticator apps, passkeys and recovery codes. They belong
-- to people, not to accounts; an account may ask for one.
ALTER TABLE accounts ADD COLUMN second_factor_required boolean NOT NULL DEFAULT false;

ALTER TABLE sessions
  ADD COLUMN device text NOT NULL DEFAULT '',         -- browser and system, as where it began
  ADD COLUMN ip_address text NOT NULL DEFAULT '',
  ADD COLUMN second_factor boolean NOT NULL DEFAULT false,   -- whether one was shown
  ADD COLUMN proved_at timestamptz NOT NULL DEFAULT '-infinity';  -- when its person was last asked who they are

CREATE TABLE authenticator_apps (
  user_id uuid PRIMARY KEY REFERENCES users ON DELETE CASCADE,
  secret bytea NOT NULL,                  -- sealed
  confirmed_at timestamptz,               -- null: the first code was not given yet
  last_step bigint NOT NULL DEFAULT 0     -- of the code that was used last: none is good twice
);

CREATE TABLE passkeys (
  id bytea PRIMARY KEY,                   -- the authenticator's name for it
  user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
  name text NOT NULL,
  public_key bytea NOT NULL,              -- DER (SPKI)
  counter bigint NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_used_at timestamptz
);
CREATE INDEX passkeys_user ON passkeys (user_id);

CREATE TABLE recovery_codes (
  user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
  hash bytea NOT NULL,                    -- SHA-256; one that was used is gone
  PRIMARY KEY (user_id, hash)
);

-- Challenges are signed, not stored; those that were answered are, so that an answer counts once.
CREATE TABLE answered_challenges (
  hash bytea PRIMARY KEY,
  expires_at timestamptz NOT NULL
);

-- The kinds stand in src/accounts/notices.ts, which is the only writer's list.
ALTER TABLE notices DROP CONSTRAINT notices_kind_check;

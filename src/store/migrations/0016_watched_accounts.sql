-- Keys that end and know their networks, notices to people, tries to sign in by place, pauses and ramps of accounts.

ALTER TABLE api_keys
  ADD COLUMN expires_at timestamptz,      -- null: never
  ADD COLUMN networks text[];             -- addresses and networks it may be used from; null: anywhere

DROP TRIGGER key_changed ON api_keys;
CREATE TRIGGER key_changed AFTER INSERT OR DELETE
  OR UPDATE OF scopes, revoked_at, allowed_recipients, templates_only, no_bcc, daily_cap, sandbox_only, expires_at, networks
  ON api_keys FOR EACH ROW EXECUTE FUNCTION raise_account_version();

-- Where people signed in from. Somewhere else is worth a notice, and is watched more closely.
CREATE TABLE sign_in_places (
  user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
  network text NOT NULL,
  device text NOT NULL,                   -- browser and system, without versions
  last_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (user_id, network, device)
);

-- Mails that the service owes its people; written together with what they tell of, sent by src/dashboard/notices.ts.
CREATE TABLE notices (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
  kind text NOT NULL CHECK (kind IN ('new-sign-in', 'new-key')),
  detail jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  due_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX notices_due_at ON notices (due_at);

-- Every try moves free_at further away; before it none is looked at. What is there now is minutes old and may go.
DROP TABLE sign_in_tries;
CREATE TABLE sign_in_tries (
  subject text PRIMARY KEY,               -- which rule, and for whom (src/accounts/sign-in-throttle.ts)
  tries integer NOT NULL,
  tried_at timestamptz NOT NULL,
  free_at timestamptz NOT NULL
) WITH (fillfactor = 70);

ALTER TABLE accounts
  ADD COLUMN paused_at timestamptz,       -- too many bounces or complaints: it may not send
  ADD COLUMN paused_reason text,
  ADD COLUMN resumed_at timestamptz,      -- what was sent before does not count again
  ADD COLUMN ramp_start integer CHECK (ramp_start > 0),  -- the first day's quota, doubled every day; null: no ramp
  ADD CHECK ((paused_at IS NULL) = (paused_reason IS NULL));

-- Agent keys: rules one API key can carry (src/accounts/agent-limits.ts), and the guard against an agent's repeats.

ALTER TABLE api_keys
  ADD COLUMN allowed_recipients text[],                       -- addresses and domains, normalised; null: anybody
  ADD COLUMN templates_only boolean NOT NULL DEFAULT false,
  ADD COLUMN no_bcc boolean NOT NULL DEFAULT false,
  ADD COLUMN daily_cap integer CHECK (daily_cap >= 1),        -- recipients a day; null: only the account's quota counts
  ADD COLUMN sandbox_only boolean NOT NULL DEFAULT false;

DROP TRIGGER key_changed ON api_keys;
CREATE TRIGGER key_changed AFTER INSERT OR DELETE
  OR UPDATE OF scopes, revoked_at, allowed_recipients, templates_only, no_bcc, daily_cap, sandbox_only ON api_keys
  FOR EACH ROW EXECUTE FUNCTION raise_account_version();

-- Today's recipients of the keys that have a cap. Written only under the lock of the account's row in account_usage.
CREATE TABLE key_usage (
  account_id bigint NOT NULL,
  key_id uuid NOT NULL,
  day date NOT NULL,
  recipients bigint NOT NULL,
  PRIMARY KEY (account_id, key_id),
  FOREIGN KEY (account_id, key_id) REFERENCES api_keys ON DELETE CASCADE
) WITH (fillfactor = 20);

-- How long a key answers as it did: a caller's own for a day, the guard against an agent's repeats for a minute.
ALTER TABLE idempotency_keys ADD COLUMN kept_seconds integer NOT NULL DEFAULT 86400;

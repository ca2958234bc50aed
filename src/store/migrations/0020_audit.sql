-- The audit: who changed what (src/audit/audit.ts). Account 0 is the service as a whole.
CREATE TABLE audit (
  account_id bigint NOT NULL,
  id uuid NOT NULL,
  at timestamptz NOT NULL DEFAULT now(),
  actor_kind text NOT NULL CHECK (actor_kind IN ('key', 'person', 'command')),
  actor_id text,
  actor_name text,              -- as it was then: people leave, and the row still says who it was
  door text NOT NULL,
  action text NOT NULL,         -- the operation
  target text NOT NULL,
  before jsonb,
  after jsonb,
  request_id text NOT NULL,
  PRIMARY KEY (account_id, id)
);
CREATE INDEX audit_at ON audit (at);

-- What became of each hour's recipients, as it was last counted: in all, by template, tag, stream and
-- the receiver's domain, why they bounced and how long delivery took. Counted when somebody looks
-- (src/messages/analytics.ts), pruned by maintenance; sending never writes here.
CREATE TABLE recipient_hours (
  account_id bigint NOT NULL REFERENCES accounts ON DELETE CASCADE,
  hour timestamptz NOT NULL,
  counts jsonb NOT NULL,
  counted_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, hour)
);

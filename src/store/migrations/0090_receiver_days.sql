-- What became of an account's email at each large receiver, by day: counted when somebody looks and
-- kept (src/messages/receivers.ts), as message_hours is.
CREATE TABLE receiver_days (
  account_id bigint NOT NULL,
  day timestamptz NOT NULL,
  counts jsonb NOT NULL,
  counted_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, day)
);

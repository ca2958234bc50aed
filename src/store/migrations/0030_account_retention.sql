-- How long an account keeps its data, where that is less than RETENTION_DAYS and CONTENT_RETENTION_DAYS say.
CREATE TABLE account_retention (
  account_id bigint PRIMARY KEY REFERENCES accounts ON DELETE CASCADE,
  retention_days integer CHECK (retention_days >= 1),
  content_retention_days integer CHECK (content_retention_days >= 1)
);

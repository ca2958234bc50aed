-- Days on which mail to an address came back for a cause that leaves doubt; written by src/suppressions/strikes.ts.
CREATE TABLE suppression_strikes (
  account_id bigint NOT NULL,
  address text NOT NULL,                  -- normalised
  day date NOT NULL,
  PRIMARY KEY (account_id, address, day)
);

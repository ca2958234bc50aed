-- Switches of an account over what it sends: whether email that cannot pass DMARC is refused, and
-- whether every send is linted. Raised versions tell processes at once, as those of tracking do.
ALTER TABLE accounts
  ADD COLUMN refuse_unaligned boolean NOT NULL DEFAULT false,
  ADD COLUMN lint_sends boolean NOT NULL DEFAULT false;

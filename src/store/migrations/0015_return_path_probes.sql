-- Mails to ourselves through the relays: a return path is used once they came back through it
-- (src/feedback/return-path-probes.ts). No account's data: small, and pruned after a week.
CREATE TABLE return_path_probes (
  id uuid PRIMARY KEY,                    -- stands in the address, and nobody can guess it
  batch uuid NOT NULL,                    -- one probe through each relay, sent together
  host text NOT NULL,                     -- where it has to come back
  relay text NOT NULL,
  of_account bigint,                      -- whose domain it is about; NULL: BOUNCE_DOMAIN
  of_domain text,
  sent_at timestamptz NOT NULL DEFAULT now(),
  fault text,                             -- why the relay did not take it
  returned_at timestamptz
);

CREATE INDEX return_path_probes_batch ON return_path_probes (batch);

-- When probes came back through the domain's own return path; return_path_seen says whether it is used.
ALTER TABLE domains ADD COLUMN return_path_proved_at timestamptz;

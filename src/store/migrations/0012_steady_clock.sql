-- When maintenance last ran, and since when the clock has gone on without a jump: old data is dropped by a steady clock only.
CREATE TABLE maintenance_runs (
  only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one),
  last_run_at timestamptz NOT NULL,
  steady_since timestamptz NOT NULL,
  jumped_from timestamptz       -- what the last run before the jump had on its clock; null: there was none
);

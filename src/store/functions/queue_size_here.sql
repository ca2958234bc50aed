-- How many emails of this server wait or are in hand, and their bytes; and how many of them are
-- scheduled and were never tried. Called by queue/limit.ts.
CREATE OR REPLACE FUNCTION queue_size_here(OUT mails float8, OUT bytes float8, OUT later float8, OUT later_bytes float8)
LANGUAGE plpgsql AS $$
DECLARE
  here regclass;
  one record;
BEGIN
  mails := 0; bytes := 0; later := 0; later_bytes := 0;
  FOR here IN SELECT tables_here('due_messages') LOOP
    EXECUTE format($count$
      SELECT count(*)::float8 AS mails, coalesce(sum(size), 0)::float8 AS bytes, count(*) FILTER (WHERE untried)::float8 AS later,
             coalesce(sum(size) FILTER (WHERE untried), 0)::float8 AS later_bytes
      FROM (SELECT size, state = 'waiting' AND attempts = 0 AS untried FROM %s) d $count$, here) INTO one;
    mails := mails + one.mails; bytes := bytes + one.bytes; later := later + one.later; later_bytes := later_bytes + one.later_bytes;
  END LOOP;
END $$;

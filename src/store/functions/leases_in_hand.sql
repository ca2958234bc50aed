-- The leases under which emails of this server are in hand. Called by queue/leases.ts.
CREATE OR REPLACE FUNCTION leases_in_hand() RETURNS SETOF uuid LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
  here regclass;
BEGIN
  FOR here IN SELECT tables_here('due_messages') LOOP
    RETURN QUERY EXECUTE format('SELECT DISTINCT lease FROM %s WHERE state = ''in hand'' AND lease IS NOT NULL', here);
  END LOOP;
END $$;

-- Suppresses addresses that are not suppressed yet and returns which; the first reason stays. Each
-- change is recorded with its event. Called by src/suppressions/suppressions.ts. In one order, so
-- that two calls wait for each other but never deadlock.
CREATE OR REPLACE FUNCTION suppress_addresses(
  p_account_id bigint[], p_address text[], p_reason text[], p_message_id uuid[], p_origin text
) RETURNS SETOF text LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
  entry record;
BEGIN
  FOR entry IN
    SELECT DISTINCT ON (s.account_id, s.address) s.*
    FROM unnest(p_account_id, p_address, p_reason, p_message_id) AS s (account_id, address, reason, message_id)
    ORDER BY s.account_id, s.address
  LOOP
    INSERT INTO suppressions (account_id, address, reason, message_id)
    VALUES (entry.account_id, entry.address, entry.reason, entry.message_id) ON CONFLICT DO NOTHING;
    CONTINUE WHEN NOT FOUND;
    PERFORM record_subscription(entry.account_id, entry.address, NULL, true, entry.reason, p_origin, entry.message_id);
    RETURN NEXT entry.address;
  END LOOP;
END $$;

-- Stores who left which stream ('*': all that can be left) and returns what was new, each recorded
-- with its event. Called by src/suppressions/unsubscribes.ts.
CREATE OR REPLACE FUNCTION leave_streams(
  p_account_id bigint[], p_address text[], p_stream text[], p_message_id uuid[], p_origin text
) RETURNS TABLE (address text, stream text) LANGUAGE plpgsql SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
  entry record;
BEGIN
  FOR entry IN
    SELECT DISTINCT ON (u.account_id, u.address, u.stream) u.*
    FROM unnest(p_account_id, p_address, p_stream, p_message_id) AS u (account_id, address, stream, message_id)
    ORDER BY u.account_id, u.address, u.stream
  LOOP
    CONTINUE WHEN NOT EXISTS (SELECT FROM accounts a WHERE a.id = entry.account_id);
    INSERT INTO unsubscribes (account_id, address, stream, message_id, origin)
    VALUES (entry.account_id, entry.address, entry.stream, entry.message_id, p_origin) ON CONFLICT DO NOTHING;
    CONTINUE WHEN NOT FOUND;
    PERFORM record_subscription(entry.account_id, entry.address, nullif(entry.stream, '*'), true, 'unsubscribe', p_origin,
                                entry.message_id);
    RETURN QUERY SELECT entry.address, entry.stream;
  END LOOP;
END $$;

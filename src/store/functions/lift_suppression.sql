-- Lifts the suppression of an address, in each form it may be listed in, deletes what counted
-- against it, and records that it gets email again. Called by src/suppressions/listing.ts.
CREATE OR REPLACE FUNCTION lift_suppression(p_account_id bigint, p_forms text[], p_origin text)
RETURNS void LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
  form text;
  was text;
BEGIN
  FOREACH form IN ARRAY p_forms LOOP
    DELETE FROM suppression_strikes WHERE account_id = p_account_id AND address = form;
    DELETE FROM suppressions WHERE account_id = p_account_id AND address = form RETURNING reason INTO was;
    CONTINUE WHEN was IS NULL;
    PERFORM record_subscription(p_account_id, form, NULL, false, was, p_origin, NULL);
  END LOOP;
END $$;

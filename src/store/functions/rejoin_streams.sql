-- Lets an address, in each form it may be listed in, rejoin those of these streams that it had
-- left; returns which, each recorded with its event.
-- Called by src/suppressions/unsubscribes.ts.
CREATE OR REPLACE FUNCTION rejoin_streams(p_account_id bigint, p_forms text[], p_streams text[], p_origin text)
RETURNS SETOF text LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
  form text;
  back text;
BEGIN
  FOREACH form IN ARRAY p_forms LOOP
    FOREACH back IN ARRAY p_streams LOOP
      DELETE FROM unsubscribes WHERE account_id = p_account_id AND address = form AND stream = back;
      CONTINUE WHEN NOT FOUND;
      PERFORM record_subscription(p_account_id, form, nullif(back, '*'), false, 'unsubscribe', p_origin, NULL);
      RETURN NEXT back;
    END LOOP;
  END LOOP;
END $$;

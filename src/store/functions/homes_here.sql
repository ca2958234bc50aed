-- For statements about all accounts: the accounts that have such rows on this server, grouped by
-- shard. One null, which stands for all, if nothing is distributed.
CREATE OR REPLACE FUNCTION homes_here(p_table regclass, p_condition text) RETURNS SETOF bigint[] LANGUAGE plpgsql STABLE AS $$
DECLARE
  here regclass;
  home bigint[];
BEGIN
  FOR here IN SELECT tables_here(p_table) LOOP
    IF here = p_table THEN
      RETURN NEXT NULL;
    ELSE
      EXECUTE format('SELECT array_agg(DISTINCT account_id) FROM %s WHERE %s', here, p_condition) INTO home;
      IF home IS NOT NULL THEN RETURN NEXT home; END IF;
    END IF;
  END LOOP;
END $$;

-- Whether somebody still waits for the statement that asks; fails it if not. For what must not be done late: a server that was
-- frozen goes on with a batch whose callers have long been told that it failed. Asked for each row that the batch answers with.
CREATE OR REPLACE FUNCTION in_time(p_by timestamptz) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  IF clock_timestamp() > p_by THEN
    RAISE EXCEPTION 'nobody waits for this statement any more' USING ERRCODE = 'query_canceled';
  END IF;
  RETURN true;
END $$;

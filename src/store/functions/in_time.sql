-- Fails the calling statement if nobody waits for it any longer. For what must not be done late: a
-- server that was frozen continues with a batch whose callers were told long ago that it failed.
-- Checked for each row that the batch returns.
CREATE OR REPLACE FUNCTION in_time(p_by timestamptz) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  IF clock_timestamp() > p_by THEN
    RAISE EXCEPTION 'nobody waits for this statement any more' USING ERRCODE = 'query_canceled';
  END IF;
  RETURN true;
END $$;

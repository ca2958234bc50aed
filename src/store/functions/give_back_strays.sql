-- Puts back emails that are in hand under a lease on this server but unknown to its process: they
-- were claimed by a statement whose answer was lost, and would stay in hand for as long as the
-- process lives. Returns how many. Called by queue/due.ts.
CREATE OR REPLACE FUNCTION give_back_strays(p_lease uuid, p_account_id bigint[], p_message_id uuid[])
RETURNS integer LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
  home bigint[];
  given integer;
  back integer := 0;
BEGIN
  FOR home IN SELECT homes_here('due_messages', format('state = ''in hand'' AND lease = %L', p_lease)) LOOP
    UPDATE due_messages d SET state = 'ready', lease = NULL, attempts = d.attempts - 1
    WHERE d.state = 'in hand' AND d.lease = p_lease AND (home IS NULL OR d.account_id = ANY (home)) AND NOT EXISTS (
      SELECT FROM unnest(p_account_id, p_message_id) AS k (account_id, message_id)
      WHERE k.account_id = d.account_id AND k.message_id = d.message_id);
    GET DIAGNOSTICS given = ROW_COUNT;
    back := back + given;
  END LOOP;
  RETURN back;
END $$;

-- Frees the emails of this server that dead processes had in hand. One of them may have killed its
-- process. An email that was in hand at two deaths is retried at a time of its own, so that the
-- next death has few suspects; one that is there every time is set aside.
CREATE OR REPLACE FUNCTION free_in_hand(p_dead uuid[])
RETURNS void LANGUAGE plpgsql SET enable_seqscan = off SET plan_cache_mode = auto AS $$
DECLARE
  home bigint[];
  -- Citus takes no function in a CASE that depends on settings or time, as extract and || of a
  -- number do.
  moment CONSTANT timestamptz := now();
  seconds CONSTANT double precision := extract(epoch FROM moment);
BEGIN
  FOR home IN SELECT homes_here('due_messages', format('state = ''in hand'' AND lease = ANY (%L)', p_dead)) LOOP
    UPDATE due_messages d SET
      lease = NULL,
      deaths = d.deaths + 1,
      state = CASE WHEN d.deaths >= 7 THEN 'set aside'::due_state WHEN d.deaths >= 1 THEN 'waiting' ELSE 'ready' END,
      -- Random, but the same for every caller: Citus allows no volatile function here.
      due_at = CASE WHEN d.deaths >= 1
                    THEN to_timestamp(seconds + 10 * d.deaths * (hashtext(d.message_id::text || d.deaths::text) / 4294967296.0 + 0.5))
                    ELSE d.due_at END,
      set_aside_at = CASE WHEN d.deaths >= 7 THEN moment END,
      reason = CASE WHEN d.deaths >= 7 THEN 'eight times in a row the process died that had this email in hand' END
    WHERE d.state = 'in hand' AND d.lease = ANY (p_dead) AND (home IS NULL OR d.account_id = ANY (home));
  END LOOP;
END $$;

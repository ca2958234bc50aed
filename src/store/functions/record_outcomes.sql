-- Records the outcomes of attempts in one call: events, kept attempts, and the due rows, each
-- finished or left over. Called by src/delivery/outcomes.ts. Only its latest claim changes a due
-- row: a process that lost it to another changes nothing. Events are facts and are recorded in any
-- case. p_home, and why plans are kept: see record_events.sql.
CREATE OR REPLACE FUNCTION record_outcomes(
  -- EVENT_COLUMNS
  p_account_id bigint[], p_message_id uuid[], p_event_id uuid[], p_kind text[], p_status text[], p_hook text[],
  p_recipients text[], p_detail text[], p_relay_id text[],
  -- ATTEMPT_COLUMNS
  k_account_id bigint[], k_message_id uuid[], k_id uuid[], k_attempt integer[], k_server text[], k_recipients text[],
  k_after_ms integer[], k_most integer,
  -- FINISHED_COLUMNS
  f_account_id bigint[], f_message_id uuid[], f_claims integer[],
  -- LEFT_OVER_COLUMNS
  l_account_id bigint[], l_message_id uuid[], l_claims integer[], l_state text[], l_after_ms integer[], l_unbegun integer[],
  l_remaining text[], l_unknown text[], l_response text[], l_reason text[],
  p_home bigint[]
) RETURNS void LANGUAGE plpgsql SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  r record;
  moment timestamptz := now();  -- Citus takes no function in a CASE
BEGIN
  PERFORM choose_plans(p_home);
  PERFORM record_events(p_account_id, p_message_id, p_event_id, p_kind, p_status, p_hook, p_recipients, p_detail, p_relay_id, p_home);
  IF cardinality(k_id) > 0 THEN
    PERFORM keep_attempts(k_account_id, k_message_id, k_id, k_attempt, k_server, k_recipients, k_after_ms, k_most, p_home);
  END IF;

  DELETE FROM due_messages d
  USING unnest(f_account_id, f_message_id, f_claims) AS f (account_id, message_id, claims)
  WHERE d.account_id = f.account_id AND d.message_id = f.message_id AND d.claims = f.claims
    AND (p_home IS NULL OR d.account_id = ANY (p_home));
  IF cardinality(l_message_id) = 0 THEN RETURN; END IF;

  FOR r IN
    SELECT l.account_id, l.message_id, l.claims, l.state::due_state AS state, now() + l.after_ms * interval '1 millisecond' AS due_at,
           l.unbegun, l.remaining::text[] AS remaining, l.unknown::text[] AS unknown, l.response, l.reason
    FROM unnest(l_account_id, l_message_id, l_claims, l_state, l_after_ms, l_unbegun, l_remaining, l_unknown, l_response, l_reason)
      AS l (account_id, message_id, claims, state, after_ms, unbegun, remaining, unknown, response, reason)
    ORDER BY l.account_id, l.message_id
  LOOP
    UPDATE due_messages d SET
      state = r.state,
      lease = NULL,
      deaths = 0,
      due_at = coalesce(r.due_at, d.due_at),
      attempts = d.attempts - r.unbegun,
      remaining = r.remaining,
      unknown = r.unknown,
      last_response = coalesce(r.response, d.last_response),
      reason = r.reason,
      set_aside_at = CASE WHEN r.reason IS NOT NULL THEN moment END
    WHERE d.account_id = r.account_id AND d.message_id = r.message_id AND d.claims = r.claims;
  END LOOP;
END $$;

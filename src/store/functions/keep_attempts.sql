-- Keeps attempts after which a recipient still had to wait: each once, and at most p_most of one
-- message. Called by src/events/attempts.ts and record_outcomes. p_home: see record_events.sql.
CREATE OR REPLACE FUNCTION keep_attempts(
  -- The attempts, a column each: ATTEMPT_COLUMNS of src/events/attempts.ts.
  p_account_id bigint[], p_message_id uuid[], p_id uuid[], p_attempt integer[], p_server text[], p_recipients text[],
  p_after_ms integer[], p_most integer, p_home bigint[]
) RETURNS void LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
  kept bigint[];
BEGIN
  IF cardinality(p_id) = 0 THEN RETURN; END IF;
  kept := ARRAY (
    SELECT (SELECT count(*) FROM delivery_attempts o
            WHERE o.account_id = k.account_id AND o.message_id = k.message_id AND (p_home IS NULL OR o.account_id = ANY (p_home)))
    FROM unnest(p_account_id, p_message_id) WITH ORDINALITY AS k (account_id, message_id, n) ORDER BY k.n);
  INSERT INTO delivery_attempts (account_id, message_id, id, attempt, server, recipients, next_at)
  SELECT k.account_id, k.message_id, k.id, k.attempt, k.server, k.recipients::jsonb,
         now() + k.after_ms * interval '1 millisecond'
  FROM unnest(p_account_id, p_message_id, p_id, p_attempt, p_server, p_recipients, p_after_ms, kept)
    AS k (account_id, message_id, id, attempt, server, recipients, after_ms, kept)
  WHERE k.kept < p_most
  ON CONFLICT DO NOTHING;
END $$;

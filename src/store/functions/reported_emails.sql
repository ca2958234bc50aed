-- What is known of emails that reports are about. Called by src/feedback/record.ts. p_home, and why
-- plans are kept: see record_events.sql.
CREATE OR REPLACE FUNCTION reported_emails(
  p_account_id bigint[], p_message_id uuid[], p_default_stream text, p_most_events integer, p_home bigint[]
) RETURNS TABLE (uuid uuid, recipients text[], stream text, queued boolean, is_full boolean, struck boolean)
LANGUAGE plpgsql SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  -- Bounds leave all other days' partitions alone.
  earliest CONSTANT uuid := (SELECT m FROM unnest(p_message_id) m ORDER BY m LIMIT 1);
  latest CONSTANT uuid := (SELECT m FROM unnest(p_message_id) m ORDER BY m DESC LIMIT 1);
BEGIN
  PERFORM choose_plans(p_home);
  RETURN QUERY
    SELECT m.id, m.recipients, coalesce(m.stream, p_default_stream), m.status = 'queued', m.last_sequence >= p_most_events,
           EXISTS (
             SELECT FROM suppression_strikes s
             WHERE s.account_id = m.account_id AND (p_home IS NULL OR s.account_id = ANY (p_home)))
    FROM unnest(p_account_id, p_message_id) AS r (account_id, message_id)
    JOIN messages m ON m.account_id = r.account_id AND m.id = r.message_id AND m.id BETWEEN earliest AND latest
      AND (p_home IS NULL OR m.account_id = ANY (p_home));
END $$;

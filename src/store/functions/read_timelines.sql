-- Statuses and events of messages, in one statement, so that they never contradict each other; a
-- message without events is one row without a kind. Called by src/events/timeline.ts. p_home, and
-- why plans are kept: see record_events.sql. Each message is looked up by itself, in the tables of
-- its day: hence OFFSET 0, and the settings.
CREATE OR REPLACE FUNCTION read_timelines(
  p_account_id bigint[], p_message_id uuid[],
  -- The first and the last message: bounds leave all other days' partitions alone.
  p_earliest uuid, p_latest uuid, p_home bigint[]
) RETURNS TABLE (
  place bigint, status text, scheduled_at timestamptz, cancelled_at timestamptz, needed_approval boolean,
  kind text, at text, recipients text[], detail jsonb
) LANGUAGE plpgsql STABLE
  SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off
  SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
BEGIN
  PERFORM choose_plans(p_home);
  RETURN QUERY
    SELECT k.place, m.status::text, m.scheduled_at, m.cancelled_at,
           EXISTS (SELECT FROM approvals a WHERE a.account_id = k.account_id AND a.message_id = k.message_id
             AND (p_home IS NULL OR a.account_id = ANY (p_home))),
           e.kind, to_char(e.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US'), e.recipients, e.detail
    FROM unnest(p_account_id, p_message_id) WITH ORDINALITY AS k (account_id, message_id, place)
    CROSS JOIN LATERAL (
      SELECT m.status, m.scheduled_at, m.cancelled_at FROM messages m
      WHERE m.account_id = k.account_id AND m.id = k.message_id AND m.id BETWEEN p_earliest AND p_latest
        AND (p_home IS NULL OR m.account_id = ANY (p_home)) OFFSET 0) m
    LEFT JOIN LATERAL (
      SELECT e.kind, e.at, e.sequence, e.recipients, e.detail FROM events e
      WHERE e.account_id = k.account_id AND e.message_id = k.message_id AND e.message_id BETWEEN p_earliest AND p_latest
        AND (p_home IS NULL OR e.account_id = ANY (p_home)) OFFSET 0) e ON true
    ORDER BY k.place, e.at, e.sequence NULLS FIRST;
END $$;

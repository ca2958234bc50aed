-- Events with what their messages add, as webhooks tell of them; one past its retention is not
-- among them. Called by src/webhooks/event-body.ts. p_home, and why plans are kept: see
-- record_events.sql. They must probe the indexes row by row, even those made while the tables are
-- empty: hence the settings.
CREATE OR REPLACE FUNCTION load_events(
  p_account_id bigint[], p_message_id uuid[], p_id uuid[],
  -- The first and the last message: bounds leave all other days' partitions alone.
  p_earliest uuid, p_latest uuid, p_home bigint[]
) RETURNS TABLE (
  account_id bigint, message_id uuid, id uuid, kind text, at text, sequence integer, recipients text[], detail jsonb,
  relay_message_id text, tags text[]
) LANGUAGE plpgsql STABLE
  SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off
  SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
BEGIN
  PERFORM choose_plans(p_home);
  RETURN QUERY
    SELECT e.account_id, e.message_id, e.id, e.kind, to_char(e.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
           e.sequence, e.recipients, e.detail,
           -- The message's own is for events older than the column.
           coalesce(e.relay_message_id, m.relay_message_id, ''), coalesce(m.tags, '{}')
    FROM unnest(p_account_id, p_message_id, p_id) AS k (account_id, message_id, id)
    JOIN events e ON e.account_id = k.account_id AND e.message_id = k.message_id AND e.id = k.id
      AND e.message_id BETWEEN p_earliest AND p_latest AND (p_home IS NULL OR e.account_id = ANY (p_home))
    -- A subscription event has none.
    LEFT JOIN messages m ON m.account_id = k.account_id AND m.id = k.message_id AND m.id BETWEEN p_earliest AND p_latest
      AND (p_home IS NULL OR m.account_id = ANY (p_home));
END $$;

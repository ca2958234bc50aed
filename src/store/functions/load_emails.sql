-- Claimed emails with their contents and what their accounts want; all of one shard where the
-- tables are distributed (p_apart). They are then read in the shard itself: through Citus the same
-- statement is planned twice. If the shard is elsewhere they are read through the tables, by a
-- statement that names its accounts (home), so that it is one task. Called by
-- src/mail/stored-email.ts. Joined in the order it is written in: the search for a better one took
-- a third of the time.
CREATE OR REPLACE FUNCTION load_emails(p_account_id bigint[], p_id uuid[], p_apart boolean, p_default_stream text) RETURNS TABLE (
  account_id bigint, id uuid, door text, recipients text[], subject text, tags text[], template text, scheduled_at timestamptz,
  head bytea, html bytea, text bytea, attachments bytea, version bigint, track_opens boolean, track_clicks boolean,
  unknown_outcome text, stream text, leavable boolean
) LANGUAGE plpgsql STABLE SET join_collapse_limit = 1 SET plan_cache_mode = auto AS $$
DECLARE
  names text[] := '{messages,contents,accounts,streams}';
  home bigint[];
BEGIN
  -- A condition of its own: elsewhere there are no such tables.
  IF p_apart THEN
    IF EXISTS (
      SELECT FROM pg_dist_placement JOIN pg_dist_local_group USING (groupid)
      WHERE shardid = get_shard_id_for_distribution_column('messages', p_account_id[1]) AND shardstate = 1
    ) THEN
      names := ARRAY (SELECT shard_name(name::regclass, get_shard_id_for_distribution_column(name::regclass, p_account_id[1])) FROM unnest(names) name);
    ELSE
      home := p_account_id;
    END IF;
  END IF;
  -- The bounds limit the planner to the partitions of these days.
  RETURN QUERY EXECUTE format($load$
    SELECT m.account_id, m.id, m.door, m.recipients, m.subject, m.tags, m.template, m.scheduled_at,
           c.head, c.html, c.text, c.attachments, a.version, a.track_opens, a.track_clicks, a.unknown_outcome,
           coalesce(m.stream, $5), coalesce(s.unsubscribe, a.one_click_unsubscribe)
    FROM unnest($1, $2) AS d (account_id, id)
    JOIN %1$s m ON m.account_id = d.account_id AND m.id = d.id AND m.id BETWEEN $3 AND $4 AND ($6 IS NULL OR m.account_id = ANY ($6))
    JOIN %2$s c ON c.account_id = d.account_id AND c.message_id = d.id AND c.message_id BETWEEN $3 AND $4
      AND ($6 IS NULL OR c.account_id = ANY ($6))
    JOIN %3$s a ON a.id = d.account_id AND ($6 IS NULL OR a.id = ANY ($6))
    LEFT JOIN %4$s s ON s.account_id = d.account_id AND s.name = coalesce(m.stream, $5) AND ($6 IS NULL OR s.account_id = ANY ($6))
    $load$, VARIADIC names)
  USING p_account_id, p_id, (SELECT min(i::text)::uuid FROM unnest(p_id) i), (SELECT max(i::text)::uuid FROM unnest(p_id) i),
        p_default_stream, home;
END $$;

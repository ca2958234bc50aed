-- Takes ready mails for a delivery process: one round over the lanes, from where its last round stopped. Each account gets the
-- same share of the room, whatever others have queued; what one does not use is left for the next round. Called by queue/due.ts.
-- Reads one index entry per lane and the mails it takes, never a backlog. A lane's plans must keep to due_messages_ready, also
-- those made while the table is empty: hence the settings. They are kept (plan_cache_mode, over that of our connections): it
-- asks for one lane after the other.
CREATE OR REPLACE FUNCTION claim_due(
  p_lease uuid, p_after bigint, p_most integer, p_lanes integer, p_full bigint[]
) RETURNS TABLE (
  account_id bigint, message_id uuid, class smallint, claims integer, attempts integer, remaining text[], unknown text[], size integer,
  now_ms double precision, last_lane bigint
) LANGUAGE plpgsql
  SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET enable_incremental_sort = off
  SET plan_cache_mode = auto AS $$
#variable_conflict use_column
DECLARE
  lanes bigint[] := '{}';
  -- The best class that has something ready, for each of them.
  firsts smallint[] := '{}';
  lane bigint := p_after;
  best smallint;
  round_again boolean := false;
  each integer;
BEGIN
  -- 1. The lanes that have something ready, each found by one jump through the index.
  WHILE cardinality(lanes) < p_lanes LOOP
    SELECT d.account_id, d.class INTO lane, best FROM due_messages d
    WHERE d.state = 'ready' AND d.account_id > lane
    ORDER BY d.account_id, d.class, d.due_at LIMIT 1;
    IF lane IS NULL THEN
      EXIT WHEN round_again OR p_after <= 0;
      round_again := true;
      lane := 0;
    ELSE
      EXIT WHEN round_again AND lane > p_after;
      -- A paused account holds what it has queued, but for urgent mail: what people need to sign in goes on.
      IF lane <> ALL (p_full) AND (best = 0
         OR NOT EXISTS (SELECT FROM accounts a WHERE a.id = lane AND a.paused_at IS NOT NULL)) THEN
        lanes := lanes || lane;
        firsts := firsts || best;
      END IF;
    END IF;
  END LOOP;
  IF cardinality(lanes) = 0 THEN RETURN; END IF;

  -- 2. From each: its best class first; those behind it get a quarter of a share too, so that none starves.
  each := ceil(p_most::numeric / cardinality(lanes));
  -- Materialized: asked a second time, the lock would pass over what the first took and answer others.
  RETURN QUERY
    WITH taken AS MATERIALIZED (
      SELECT l.account_id, c.message_id
      FROM unnest(lanes, firsts) AS l (account_id, best)
      -- A lane with a limit of its own: one process at a time looks how much room is left in it.
      LEFT JOIN LATERAL (
        SELECT CASE WHEN pg_try_advisory_xact_lock(7263003, (a.id % 2147483648)::integer)
                    THEN a.delivery_limit - (SELECT count(*) FROM due_messages h
                                             WHERE h.account_id = a.id AND h.state = 'in hand')
                    ELSE 0 END AS room
        FROM accounts a WHERE a.id = l.account_id AND a.delivery_limit IS NOT NULL
      ) own ON true
      LEFT JOIN accounts paused ON paused.id = l.account_id AND paused.paused_at IS NOT NULL
      CROSS JOIN LATERAL (
        SELECT r.message_id
        -- Where room is scarce the classes draw lots, of which the better ones have more.
        FROM (VALUES (0, random()), (1, 4 * random()), (2, 16 * random())) AS w (class, lot)
        CROSS JOIN LATERAL (
          SELECT q.message_id, q.due_at FROM due_messages q
          WHERE q.account_id = l.account_id AND q.class = w.class AND q.state = 'ready'
          ORDER BY q.due_at
          LIMIT least(own.room, CASE WHEN w.class = l.best THEN each ELSE (each + 3) / 4 END)
          FOR UPDATE SKIP LOCKED
        ) r
        WHERE w.class >= l.best AND (w.class = 0 OR paused.id IS NULL)
        ORDER BY w.lot, r.due_at
        LIMIT own.room
      ) c
    )
    UPDATE due_messages d SET state = 'in hand', lease = p_lease, claims = d.claims + 1, attempts = d.attempts + 1
    FROM taken t WHERE d.account_id = t.account_id AND d.message_id = t.message_id
    RETURNING d.account_id, d.message_id, d.class, d.claims, d.attempts, d.remaining, d.unknown, d.size,
              extract(epoch FROM clock_timestamp())::float8 * 1000, lanes[cardinality(lanes)];
END $$;

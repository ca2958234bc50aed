-- Takes ready emails for a delivery process: one round over the lanes, from where its last round
-- stopped. Each account gets the same share of the room, whatever others have queued; what one does
-- not use is left for the next round. Called by queue/due.ts. Reads one index entry per lane and
-- the emails it takes, never a backlog. Plans are kept (plan_cache_mode overrides that of our
-- connections): planning took half of a claim of 64. They must use due_messages_ready, even those
-- made while the table is empty, and join by nested loops: hence the settings. With another join
-- a kept plan read the whole queue.
-- p_by: nothing is claimed later than this; null: no limit. share: a lane that gave fewer of this
-- class has none ready left, and no lane was left out; null for one with a limit of its own, which
-- may have more as soon as one of its emails is finished. p_apart: the tables are distributed. Then
-- it takes from the lanes of this node, those of one shard at a time (claim_shard).
CREATE OR REPLACE FUNCTION claim_due(
  p_lease uuid, p_after bigint, p_most integer, p_lanes integer, p_full bigint[], p_apart boolean,
  p_by timestamptz
) RETURNS TABLE (
  account_id bigint, message_id uuid, class smallint, claims integer, attempts integer, remaining text[], unknown text[], size integer,
  now_ms double precision, last_lane bigint, share integer
) LANGUAGE plpgsql
  SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET enable_incremental_sort = off
  SET enable_hashjoin = off SET enable_mergejoin = off
  SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  lanes bigint[] := '{}';
  -- The best class with something ready, for each lane.
  firsts smallint[] := '{}';
  lane bigint := p_after;
  best smallint;
  round_again boolean := false;
  part record;
  rooms bigint[];
  halts boolean[];
  each integer;
  at_ms CONSTANT double precision := extract(epoch FROM clock_timestamp())::float8 * 1000;
  -- When room is scarce, the classes draw lots; better classes have more of them. The fourth is
  -- what the sandbox captures.
  lots CONSTANT double precision[] := ARRAY[random(), 4 * random(), 16 * random(), random()];
BEGIN
  IF now() >= p_by THEN RETURN; END IF;

  -- 1. The lanes that have something ready, each found by one jump through the index.
  WHILE NOT p_apart AND cardinality(lanes) < p_lanes LOOP
    SELECT d.account_id, d.class INTO lane, best FROM due_messages d
    WHERE d.state = 'ready' AND d.account_id > lane
    ORDER BY d.account_id, d.class, d.due_at LIMIT 1;
    IF lane IS NULL THEN
      EXIT WHEN round_again OR p_after <= 0;
      round_again := true;
      lane := 0;
    ELSE
      EXIT WHEN round_again AND lane > p_after;
      -- A suspended account's email stays queued. So does a paused one's, except urgent email:
      -- people must be able to sign in. Accounts at their limits would fill a round without giving
      -- anything, and those behind them would wait.
      IF lane <> ALL (p_full) AND NOT EXISTS (
           SELECT FROM accounts a WHERE a.id = lane
             AND (a.suspended_at IS NOT NULL OR a.paused_at IS NOT NULL AND best > 0
                  OR a.delivery_limit IS NOT NULL AND a.delivery_limit
                       <= (SELECT count(*) FROM due_messages h WHERE h.account_id = a.id AND h.state = 'in hand'))) THEN
        lanes := lanes || lane;
        firsts := firsts || best;
      END IF;
    END IF;
  END LOOP;

  FOR part IN SELECT * FROM ready_lanes(p_after, p_lanes, p_full) WHERE p_apart LOOP
    RETURN QUERY
      SELECT c.account_id, c.message_id, c.class, c.claims, c.attempts, c.remaining, c.unknown, c.size, at_ms, part.last_lane, c.share
      FROM claim_shard(p_lease, part.home, part.firsts, ceil(p_most::numeric / part.lanes)::integer, part.lanes < p_lanes, lots) c;
  END LOOP;

  IF cardinality(lanes) > 0 THEN
    each := ceil(p_most::numeric / cardinality(lanes));

    -- 2. What each may take: only one process at a time checks how much room is left in a lane with
    --    a limit of its own.
    SELECT array_agg(CASE WHEN a.delivery_limit IS NULL THEN NULL
                          WHEN pg_try_advisory_xact_lock(7263003, (a.id % 2147483648)::integer)
                          THEN a.delivery_limit - (SELECT count(*) FROM due_messages h WHERE h.account_id = a.id AND h.state = 'in hand')
                          ELSE 0 END ORDER BY l.n),
           array_agg(a.paused_at IS NOT NULL ORDER BY l.n)
    INTO rooms, halts
    FROM unnest(lanes) WITH ORDINALITY AS l (account_id, n)
    LEFT JOIN accounts a ON a.id = l.account_id;

    -- 3. From each: its best class first; the classes below get a quarter of a share, so that none
    --    starves. Materialized: run a second time, it would skip the rows it has just locked and
    --    return others.
    RETURN QUERY
      WITH taken AS MATERIALIZED (
        SELECT l.account_id, c.message_id,
               CASE WHEN l.room IS NULL THEN CASE WHEN cardinality(lanes) < p_lanes THEN c.share ELSE 0 END END AS share
        FROM unnest(lanes, firsts, rooms, halts) AS l (account_id, best, room, halts)
        CROSS JOIN LATERAL (
          SELECT r.message_id, w.share
          FROM (SELECT v.class, v.lot, CASE WHEN v.class = l.best THEN each ELSE (each + 3) / 4 END AS share
                FROM (VALUES (0, lots[1]), (1, lots[2]), (2, lots[3]), (3, lots[4])) AS v (class, lot)) w
          CROSS JOIN LATERAL (
            SELECT q.message_id, q.due_at FROM due_messages q
            WHERE q.account_id = l.account_id AND q.class = w.class AND q.state = 'ready'
            ORDER BY q.due_at
            LIMIT least(l.room, w.share)
            FOR UPDATE SKIP LOCKED
          ) r
          WHERE w.class >= l.best AND (w.class = 0 OR NOT l.halts)
          ORDER BY w.lot, r.due_at
          LIMIT l.room
        ) c
      )
      UPDATE due_messages d SET state = 'in hand', lease = p_lease, claims = d.claims + 1, attempts = d.attempts + 1
      FROM taken t WHERE d.account_id = t.account_id AND d.message_id = t.message_id
      RETURNING d.account_id, d.message_id, d.class, d.claims, d.attempts, d.remaining, d.unknown, d.size,
                at_ms, lanes[cardinality(lanes)], t.share;
  END IF;
  PERFORM in_time(p_by);
END $$;

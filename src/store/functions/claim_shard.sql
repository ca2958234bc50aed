-- What claim_due does for the lanes of one shard of this server, where the tables are distributed.
-- The emails are chosen and locked in the shard itself, by a statement that PostgreSQL plans once;
-- through Citus it was planned twice and took most of a claim's time. They are changed through the
-- table: if the shard has moved meanwhile, fewer are found, and nothing is claimed.
-- p_each: the share of each lane. p_all: no lane was left out.
CREATE OR REPLACE FUNCTION claim_shard(
  p_lease uuid, p_lanes bigint[], p_firsts smallint[], p_each integer, p_all boolean, p_lots double precision[]
) RETURNS TABLE (
  account_id bigint, message_id uuid, class smallint, claims integer, attempts integer, remaining text[], unknown text[], size integer,
  share integer
) LANGUAGE plpgsql
  SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET enable_incremental_sort = off
  SET plan_cache_mode = force_custom_plan AS $$
#variable_conflict use_column
DECLARE
  here CONSTANT bigint := get_shard_id_for_distribution_column('due_messages', p_lanes[1]);
  ids uuid[] := '{}';
  changed bigint;
BEGIN
  FOR account_id, message_id, class, claims, attempts, remaining, unknown, size, share IN EXECUTE format($taken$
    SELECT l.account_id, c.message_id, c.class, c.claims + 1, c.attempts + 1, c.remaining, c.unknown, c.size,
           CASE WHEN l.room IS NULL THEN CASE WHEN $4 THEN c.share ELSE 0 END END
    FROM (
      SELECT b.account_id, b.best, a.paused_at IS NOT NULL AS halts,
             CASE WHEN a.delivery_limit IS NULL THEN NULL
                  WHEN pg_try_advisory_xact_lock(7263003, (a.id %% 2147483648)::integer)
                  THEN a.delivery_limit - (SELECT count(*) FROM %1$s h WHERE h.account_id = a.id AND h.state = 'in hand')
                  ELSE 0 END AS room
      FROM unnest($1, $2) AS b (account_id, best) LEFT JOIN %2$s a ON a.id = b.account_id
    ) l
    CROSS JOIN LATERAL (
      SELECT r.*, w.share
      FROM (SELECT v.class, v.lot, CASE WHEN v.class = l.best THEN $3 ELSE ($3 + 3) / 4 END AS share
            FROM unnest('{0,1,2,3}'::integer[], $5) AS v (class, lot)) w
      CROSS JOIN LATERAL (
        SELECT q.* FROM %1$s q
        WHERE q.account_id = l.account_id AND q.class = w.class AND q.state = 'ready'
        ORDER BY q.due_at
        LIMIT least(l.room, w.share)
        FOR UPDATE SKIP LOCKED
      ) r
      WHERE w.class >= l.best AND (w.class = 0 OR NOT l.halts)
      ORDER BY w.lot, r.due_at
      LIMIT l.room
    ) c $taken$, shard_name('due_messages', here), shard_name('accounts', get_shard_id_for_distribution_column('accounts', p_lanes[1])))
    USING p_lanes, p_firsts, p_each, p_all, p_lots
  LOOP
    ids := ids || message_id;
    RETURN NEXT;
  END LOOP;
  IF ids = '{}' THEN RETURN; END IF;
  UPDATE due_messages d SET state = 'in hand', lease = p_lease, claims = d.claims + 1, attempts = d.attempts + 1
  WHERE d.account_id = ANY (p_lanes) AND d.message_id = ANY (ids) AND d.state = 'ready';
  GET DIAGNOSTICS changed = ROW_COUNT;
  IF changed <> cardinality(ids) THEN
    RAISE EXCEPTION 'the shard moved while emails were claimed from it' USING ERRCODE = 'serialization_failure';
  END IF;
END $$;

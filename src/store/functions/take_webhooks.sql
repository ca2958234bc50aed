-- Leases further endpoints of this server that have something due, and returns their rows and those
-- of endpoints that run short. A short endpoint that is not returned is lost. Called by
-- src/webhooks/leases.ts. On a distributed database each statement is about the accounts of one
-- shard (home); otherwise home is null and stands for all. Plans are kept: planning was most of a
-- call. They must use the indexes and probe them row by row, even those made while the tables are
-- empty: hence the settings. On Citus they are made each time, because Citus needs the values.
CREATE OR REPLACE FUNCTION take_webhooks(
  p_now timestamptz, p_lease uuid, p_lease_ms integer, p_endpoints integer, p_kept integer, p_rows integer, p_in_hand uuid[],
  p_short_account_id bigint[], p_short_id uuid[], p_served_account_id bigint[], p_served_id uuid[]
) RETURNS TABLE (
  account_id bigint, endpoint_id uuid, url text, fifo boolean, secret bytea, previous_secret bytea, previous_until timestamptz,
  failures integer, failing_since timestamptz, paused_until timestamptz,
  delivery_id uuid, message_id uuid, event_id uuid, attempts integer, is_due boolean
) LANGUAGE plpgsql
  SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET enable_incremental_sort = off
  SET enable_hashjoin = off SET enable_mergejoin = off
  SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  here record;
  home bigint[];
  -- The endpoints that have something due.
  accounts bigint[];
  endpoints uuid[];
  leased_accounts bigint[];
  leased uuid[];
  room integer := p_endpoints;
BEGIN
  FOR here IN SELECT * FROM ROWS FROM (tables_here('webhook_due'), tables_here('accounts')) AS here (due, accounts) LOOP
    -- Jumps through the index from endpoint to endpoint: one probe each, which also tells its
    -- earliest time, however long the backlogs are.
    IF here.due = 'webhook_due'::regclass THEN
      home := NULL;
      WITH RECURSIVE waiting AS (
        (SELECT d.account_id, d.endpoint_id, d.due_at FROM webhook_due d
         ORDER BY d.account_id, d.endpoint_id, d.due_at LIMIT 1)
        UNION ALL
        SELECT next.* FROM waiting w CROSS JOIN LATERAL (
          SELECT d.account_id, d.endpoint_id, d.due_at FROM webhook_due d
          WHERE (d.account_id, d.endpoint_id) > (w.account_id, w.endpoint_id)
          ORDER BY d.account_id, d.endpoint_id, d.due_at LIMIT 1) next
      )
      SELECT array_agg(w.account_id), array_agg(w.endpoint_id) INTO accounts, endpoints FROM waiting w WHERE w.due_at <= p_now;
    ELSE
      PERFORM set_config('plan_cache_mode', 'force_custom_plan', true);
      EXECUTE format($waiting$
        WITH RECURSIVE waiting AS (
          (SELECT d.account_id, d.endpoint_id, d.due_at FROM %1$s d
           ORDER BY d.account_id, d.endpoint_id, d.due_at LIMIT 1)
          UNION ALL
          SELECT next.* FROM waiting w CROSS JOIN LATERAL (
            SELECT d.account_id, d.endpoint_id, d.due_at FROM %1$s d
            WHERE (d.account_id, d.endpoint_id) > (w.account_id, w.endpoint_id)
            ORDER BY d.account_id, d.endpoint_id, d.due_at LIMIT 1) next
        )
        SELECT array_agg(account_id), array_agg(endpoint_id) FROM waiting WHERE due_at <= $1 $waiting$, here.due)
        INTO accounts, endpoints USING p_now;
      EXECUTE format('SELECT array_agg(DISTINCT id) FROM (SELECT unnest($1) AS id
                      UNION SELECT a.id FROM %s a WHERE a.id = ANY ($2)) found', here.accounts)
        INTO home USING accounts, p_short_account_id;
      CONTINUE WHEN home IS NULL;
    END IF;

    leased_accounts := NULL;
    leased := NULL;
    IF accounts IS NOT NULL AND room > 0 THEN
      -- The one that was served longest ago comes first.
      WITH candidates AS MATERIALIZED (
        SELECT e.account_id, e.id, e.leased_until, e.account_id <> ALL (p_served_account_id)
          AND row_number() OVER (PARTITION BY e.account_id ORDER BY e.leased_until NULLS FIRST) = 1 AS is_first
        FROM unnest(accounts, endpoints) AS w (account_id, endpoint_id)
        JOIN webhook_endpoints e ON e.account_id = w.account_id AND e.id = w.endpoint_id AND (home IS NULL OR e.account_id = ANY (home))
        WHERE e.disabled_at IS NULL
          AND (e.paused_until IS NULL OR e.paused_until <= p_now)
          AND (e.lease IS NULL OR e.leased_until <= now())
          AND (e.account_id, e.id) NOT IN (SELECT * FROM unnest(p_served_account_id, p_served_id))
          AND (NOT e.fifo OR p_now >= (
            SELECT d.due_at FROM webhook_due d
            WHERE d.account_id = e.account_id AND d.endpoint_id = e.id AND (home IS NULL OR d.account_id = ANY (home))
            ORDER BY d.delivery_id LIMIT 1))
      ), chosen AS MATERIALIZED (
        SELECT account_id, id FROM (
          SELECT *, row_number() OVER (ORDER BY is_first DESC, leased_until NULLS FIRST) AS place FROM candidates
        ) placed
        -- The last p_kept are for accounts that have none yet: those of others may all hang.
        WHERE place <= CASE WHEN is_first THEN room ELSE room - p_kept END
      ), ready AS MATERIALIZED (
        SELECT e.account_id, e.id
        FROM chosen c
        JOIN webhook_endpoints e ON e.account_id = c.account_id AND e.id = c.id AND (home IS NULL OR e.account_id = ANY (home))
        WHERE e.lease IS NULL OR e.leased_until <= now()
        FOR UPDATE OF e SKIP LOCKED
      ), leased AS (
        UPDATE webhook_endpoints e SET lease = p_lease, leased_until = now() + p_lease_ms * interval '1 millisecond'
        FROM ready r WHERE e.account_id = r.account_id AND e.id = r.id AND (home IS NULL OR e.account_id = ANY (home))
        RETURNING e.account_id, e.id
      )
      SELECT array_agg(l.account_id), array_agg(l.id) INTO leased_accounts, leased FROM leased l;
      room := room - coalesce(cardinality(leased), 0);
    END IF;
    -- Ten times a second there is nothing.
    CONTINUE WHEN leased IS NULL AND cardinality(p_short_id) = 0;

    RETURN QUERY
      SELECT l.account_id, l.id, l.url, l.fifo, l.secret, l.previous_secret, l.previous_until,
             l.failures, l.failing_since, l.paused_until,
             d.delivery_id, d.message_id, d.event_id, d.attempts, d.due_at <= p_now
      FROM unnest(leased_accounts || p_short_account_id, leased || p_short_id) AS s (account_id, id)
      JOIN webhook_endpoints l ON l.account_id = s.account_id AND l.id = s.id AND (home IS NULL OR l.account_id = ANY (home))
        AND l.lease = p_lease AND l.disabled_at IS NULL
      LEFT JOIN LATERAL (
        (SELECT * FROM webhook_due d
         WHERE NOT l.fifo AND d.account_id = l.account_id AND d.endpoint_id = l.id AND (home IS NULL OR d.account_id = ANY (home))
           AND d.due_at <= p_now AND d.delivery_id <> ALL (p_in_hand)
         ORDER BY d.due_at LIMIT p_rows)
        UNION ALL
        (SELECT * FROM webhook_due d
         WHERE l.fifo AND d.account_id = l.account_id AND d.endpoint_id = l.id AND (home IS NULL OR d.account_id = ANY (home))
           AND d.delivery_id <> ALL (p_in_hand)
         ORDER BY d.delivery_id LIMIT p_rows)
      ) d ON true;
  END LOOP;
END $$;

-- Records the outcomes of attempts at webhooks: due rows, log and the endpoints' health, in one
-- statement. Called by src/webhooks/outcomes.ts. Only a process that still has the lease changes an
-- endpoint. p_home, and why the plan is kept: see record_events.sql.
CREATE OR REPLACE FUNCTION record_webhook_news(
  -- OUTCOME_COLUMNS
  p_account_id bigint[], p_endpoint_id uuid[], p_delivery_id uuid[], p_state text[], p_attempts integer[], p_due_at timestamptz[],
  p_ended_at timestamptz[], p_status integer[], p_response text[], p_truncated integer[], p_error text[], p_duration_ms integer[],
  -- CHANGE_COLUMNS
  c_account_id bigint[], c_id uuid[], c_failures integer[], c_failing_since timestamptz[], c_paused_until timestamptz[],
  c_disable text[], c_release integer[],
  -- The first and the last delivery: bounds leave all other days' partitions alone.
  p_earliest uuid, p_latest uuid,
  p_lease uuid, p_now timestamptz, p_home bigint[]
) RETURNS void LANGUAGE plpgsql SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  PERFORM choose_plans(p_home);
  WITH outcome AS (
    SELECT * FROM unnest(p_account_id, p_endpoint_id, p_delivery_id, p_state, p_attempts, p_due_at, p_ended_at, p_status,
                         p_response, p_truncated, p_error, p_duration_ms)
      AS o (account_id, endpoint_id, delivery_id, state, attempts, due_at, ended_at, status,
            response, truncated, error, duration_ms)
  ), finished AS (
    DELETE FROM webhook_due d USING outcome o
    WHERE d.account_id = o.account_id AND d.endpoint_id = o.endpoint_id AND d.delivery_id = o.delivery_id
      AND (o.state = 'delivered' OR o.state = 'abandoned' AND d.attempts <= o.attempts)
      AND (p_home IS NULL OR d.account_id = ANY (p_home))
  ), put_off AS (
    UPDATE webhook_due d SET due_at = o.due_at, attempts = o.attempts FROM outcome o
    WHERE d.account_id = o.account_id AND d.endpoint_id = o.endpoint_id AND d.delivery_id = o.delivery_id
      AND o.state = 'pending' AND d.attempts <= o.attempts AND (p_home IS NULL OR d.account_id = ANY (p_home))
  ), logged AS (
    UPDATE webhook_deliveries l SET
      state = o.state, attempts = o.attempts, attempted_at = o.ended_at, status = o.status,
      response = o.response, response_truncated = o.truncated = 1, error = o.error, duration_ms = o.duration_ms,
      finished_at = CASE WHEN o.state <> 'pending' THEN o.ended_at END
    FROM outcome o
    WHERE l.account_id = o.account_id AND l.endpoint_id = o.endpoint_id AND l.id = o.delivery_id
      AND l.id BETWEEN p_earliest AND p_latest AND (p_home IS NULL OR l.account_id = ANY (p_home))
      AND (o.state = 'delivered' OR l.state = 'pending' AND l.attempts <= o.attempts)
  )
  UPDATE webhook_endpoints e SET
    failures = coalesce(c.failures, e.failures),
    failing_since = CASE WHEN c.failures IS NULL THEN e.failing_since ELSE c.failing_since END,
    paused_until = CASE WHEN c.failures IS NULL THEN e.paused_until ELSE c.paused_until END,
    disabled_at = coalesce(e.disabled_at, CASE WHEN c.disable IS NOT NULL THEN p_now END),
    disabled_reason = coalesce(e.disabled_reason, c.disable),
    lease = CASE WHEN c.release = 0 THEN e.lease END
  FROM unnest(c_account_id, c_id, c_failures, c_failing_since, c_paused_until, c_disable, c_release)
    AS c (account_id, id, failures, failing_since, paused_until, disable, release)
  WHERE e.account_id = c.account_id AND e.id = c.id AND e.lease = p_lease
    AND (p_home IS NULL OR e.account_id = ANY (p_home));
END $$;

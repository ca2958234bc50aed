-- Accepting: one call commits a batch of sends: idempotency, quota, rate, message, content and due
-- row, each send with its own verdict. Locks are taken in one order (idempotency keys, then
-- accounts, each sorted), so batches wait for each other but never deadlock. Returns the
-- exceptions: a row for each send that was not simply accepted (n: its position in the batch), and
-- a row for each account that was checked (n null) with its allowance. A batch of one account that
-- was accepted in full is one row. A send that gave the listed forms of its recipients gets a row
-- with the verdict "listed" if anyone of them has left a stream or is suppressed.
--
-- The emails of one request (POST /v1/send/batch) arrive as a batch of their own, all through one
-- API key. p_whole: all of them or none; if one is refused, the rest are withheld and nothing is
-- counted. Idempotency keys that begin with chr(2) stand for one key of the whole request: if one
-- of them was used with another request, all were.
--
-- Its plans are made once per connection, often while a table or the day's partition is still
-- empty. A plan that reads a small table from end to end must not be kept for one that grows by
-- thousands of rows a second (enable_seqscan): measured, sends with idempotency keys fell to a
-- fifth of their rate within seconds. Plans are still kept (plan_cache_mode overrides that of our
-- connections): planning each time cost the server 350 µs more per batch.
--
-- p_apart: the tables are distributed, and all accounts of the batch are on this node. A statement
-- that reads existing rows then names one account (home), so that it is one task; null stands for
-- all.
CREATE OR REPLACE FUNCTION accept_sends(
  -- The sends, a column each: SEND_COLUMNS of src/sending/packed-send.ts, called by name. Here
  -- p_name is unnested as name.
  p_id uuid[], p_account_id bigint[], p_from_email text[], p_recipients text[], p_recipient_count integer[],
  p_subject text[], p_tags text[], p_template text[], p_template_version integer[], p_branding_version integer[],
  p_stream text[], p_door text[], p_key_id uuid[], p_head bytea[], p_html bytea[], p_text bytea[], p_attachments bytea[],
  p_idempotency_key text[], p_request_hash bytea[], p_kept_seconds integer[], p_key_cap integer[],
  p_size integer[], p_class integer[], p_scheduled_at timestamptz[], p_approval text[],
  p_listed_forms text[],
  p_relay_down boolean, p_default_quota integer, p_default_rate integer, p_whole boolean, p_apart boolean
) RETURNS TABLE (
  n integer, verdict text, message_id uuid, retry_after integer, cap_left bigint,
  account_id bigint, quota integer, quota_left bigint, rate integer
) LANGUAGE plpgsql SET enable_seqscan = off SET plan_cache_mode = auto AS $$
#variable_conflict use_column
DECLARE
  verdicts text[] := array_fill('accepted'::text, ARRAY[cardinality(p_id)]);
  answers uuid[] := p_id;
  -- Filled only where a verdict needs it.
  waits integer[];
  caps_left bigint[];
  -- A column that no send of the batch has is null as a whole.
  keyed CONSTANT boolean := p_idempotency_key IS NOT NULL;
  held CONSTANT boolean := p_approval IS NOT NULL;
  spotless boolean;
  written integer;
  found_key record;
  asking record;
  call record;
  moment timestamptz;
  today date;
  a_quota integer;
  a_rate integer;
  used bigint;
  used_before bigint;
  key_used bigint;
  purse double precision;
  purse_before double precision;
  over_rate integer := 0;
  home bigint;
  homes bigint[] := ARRAY[NULL::bigint];
  began CONSTANT timestamptz := clock_timestamp();
BEGIN
  IF p_apart AND (keyed OR p_listed_forms IS NOT NULL) THEN
    homes := ARRAY (SELECT DISTINCT a FROM unnest(p_account_id) a);
  END IF;

  -- 1. A key seen before gets the same answer again. Waits for a transaction that is writing the
  --    same key.
  IF keyed THEN
    INSERT INTO idempotency_keys AS kept (account_id, key, request_hash, message_id, created_at, kept_seconds)
    SELECT DISTINCT ON (t.account_id, t.idempotency_key)
           t.account_id, t.idempotency_key, t.request_hash, t.id, began, t.kept_seconds
    FROM unnest(p_account_id, p_idempotency_key, p_request_hash, p_id, p_kept_seconds)
      WITH ORDINALITY AS t (account_id, idempotency_key, request_hash, id, kept_seconds, n)
    WHERE t.idempotency_key IS NOT NULL
    ORDER BY t.account_id, t.idempotency_key, t.n
    ON CONFLICT (account_id, key) DO UPDATE
      SET request_hash = excluded.request_hash, message_id = excluded.message_id,
          created_at = excluded.created_at, kept_seconds = excluded.kept_seconds
      WHERE extract(epoch FROM excluded.created_at - kept.created_at) > kept.kept_seconds;
    GET DIAGNOSTICS written = ROW_COUNT;
  END IF;
  -- If every key was written, none was there before. Citus counts those that were not, too.
  IF keyed AND (p_apart OR written < cardinality(array_remove(p_idempotency_key, NULL))) THEN
    FOREACH home IN ARRAY homes LOOP
      FOR found_key IN
        SELECT t.n, kept.message_id, kept.request_hash = t.request_hash AS same
        FROM unnest(p_account_id, p_idempotency_key, p_request_hash, p_id)
          WITH ORDINALITY AS t (account_id, idempotency_key, request_hash, id, n)
        JOIN idempotency_keys kept ON kept.account_id = t.account_id AND kept.key = t.idempotency_key
        WHERE kept.message_id <> t.id AND (home IS NULL OR kept.account_id = home)
      LOOP
        verdicts[found_key.n] := CASE WHEN found_key.same THEN 'repeated' ELSE 'conflict' END;
        answers[found_key.n] := found_key.message_id;
      END LOOP;
    END LOOP;
    IF 'conflict' = ANY (verdicts) THEN
      IF EXISTS (
        SELECT FROM unnest(p_idempotency_key, verdicts) AS t (idempotency_key, verdict)
        WHERE t.verdict = 'conflict' AND starts_with(t.idempotency_key, chr(2))
      ) THEN
        verdicts := array(
          SELECT CASE WHEN starts_with(t.idempotency_key, chr(2)) THEN 'conflict' ELSE t.verdict END
          FROM unnest(p_idempotency_key, verdicts) WITH ORDINALITY AS t (idempotency_key, verdict, n)
          ORDER BY t.n);
      END IF;
      IF p_whole THEN
        verdicts := array_replace(verdicts, 'accepted', 'withheld');
      END IF;
    END IF;
  END IF;

  -- 2. Quota and rate. The row lock makes them exact across processes.
  FOR asking IN
    SELECT t.account_id, count(*) AS calls, sum(t.recipient_count) AS recipients, count(t.key_cap) > 0 AS capped
    FROM unnest(p_account_id, p_recipient_count, p_key_cap, verdicts)
      AS t (account_id, recipient_count, key_cap, verdict)
    WHERE t.verdict = 'accepted'
    GROUP BY t.account_id ORDER BY t.account_id
  LOOP
    moment := clock_timestamp();
    today := (moment AT TIME ZONE 'UTC')::date;
    -- A ramp doubles every day (src/accounts/plans.ts); without one it is null, which least()
    -- ignores.
    SELECT least(coalesce(daily_quota, p_default_quota),
                 ramp_start * 2 ^ least(30, greatest(0, today - (created_at AT TIME ZONE 'UTC')::date))),
           coalesce(rate_per_second, p_default_rate)
      INTO a_quota, a_rate FROM accounts WHERE id = asking.account_id;

    -- As if all were accepted, which most batches are: then this is the only write.
    INSERT INTO account_usage AS u (account_id, day, recipients, tokens, refilled_at)
    VALUES (asking.account_id, today, asking.recipients, 2 * a_rate - asking.calls, moment)
    ON CONFLICT (account_id) DO UPDATE SET
      recipients = CASE WHEN u.day < excluded.day THEN 0 ELSE u.recipients END + excluded.recipients,
      day = greatest(u.day, excluded.day),
      tokens = least(2 * a_rate,
        u.tokens + a_rate * greatest(0, extract(epoch FROM excluded.refilled_at - u.refilled_at))) - asking.calls,
      refilled_at = greatest(u.refilled_at, excluded.refilled_at)
    RETURNING u.recipients, u.tokens INTO used, purse;

    IF p_relay_down OR asking.capped OR purse < 0 OR used > a_quota THEN
      used_before := used - asking.recipients;
      purse_before := purse + asking.calls;
      used := used_before;
      purse := purse_before;
      FOR call IN
        SELECT t.n, t.recipient_count AS recipients, t.key_id, t.key_cap AS cap
        FROM unnest(p_account_id, p_recipient_count, p_key_id, p_key_cap, verdicts)
          WITH ORDINALITY AS t (account_id, recipient_count, key_id, key_cap, verdict, n)
        WHERE t.account_id = asking.account_id AND t.verdict = 'accepted'
        ORDER BY t.n
      LOOP
        IF call.cap IS NOT NULL THEN
          INSERT INTO key_usage AS u (account_id, key_id, day, recipients)
          VALUES (asking.account_id, call.key_id, today, 0)
          ON CONFLICT (account_id, key_id) DO UPDATE SET
            recipients = CASE WHEN u.day < excluded.day THEN 0 ELSE u.recipients END,
            day = greatest(u.day, excluded.day)
          RETURNING u.recipients INTO key_used;
        END IF;
        IF key_used + call.recipients > call.cap THEN
          verdicts[call.n] := 'over-cap';
          waits[call.n] := greatest(1, ceil(extract(epoch FROM (today + 1)::timestamp AT TIME ZONE 'UTC' - moment)));
          caps_left[call.n] := call.cap - key_used;
        ELSIF used + call.recipients > a_quota THEN
          verdicts[call.n] := 'over-quota';
          waits[call.n] := greatest(1, ceil(extract(epoch FROM (today + 1)::timestamp AT TIME ZONE 'UTC' - moment)));
        ELSIF purse < 1 THEN
          verdicts[call.n] := 'over-rate';
          waits[call.n] := greatest(1, ceil((1 + over_rate - purse) / a_rate));
          IF p_whole THEN
            over_rate := over_rate + 1;
          END IF;
        ELSIF p_relay_down THEN
          verdicts[call.n] := 'relay-down';
        ELSE
          used := used + call.recipients;
          purse := purse - 1;
          IF call.cap IS NOT NULL THEN
            UPDATE key_usage SET recipients = recipients + call.recipients
            WHERE account_id = asking.account_id AND key_id = call.key_id;
          END IF;
        END IF;
      END LOOP;
      IF p_whole AND EXISTS (SELECT FROM unnest(verdicts) v WHERE v NOT IN ('accepted', 'repeated')) THEN
        used := used_before;
        purse := purse_before;
        UPDATE key_usage u SET recipients = u.recipients - taken.recipients
        FROM (
          SELECT sum(t.recipient_count) AS recipients
          FROM unnest(p_recipient_count, p_key_cap, verdicts) AS t (recipient_count, key_cap, verdict)
          WHERE t.verdict = 'accepted' AND t.key_cap IS NOT NULL
        ) taken
        WHERE u.account_id = asking.account_id AND u.key_id = p_key_id[1] AND taken.recipients > 0;
        verdicts := array_replace(verdicts, 'accepted', 'withheld');
      END IF;
      UPDATE account_usage SET recipients = used, tokens = purse WHERE account_id = asking.account_id;
    END IF;

    account_id := asking.account_id;
    quota := a_quota;
    quota_left := a_quota - used;
    rate := a_rate;
    RETURN NEXT;
  END LOOP;

  spotless := 'accepted' = ALL (verdicts);
  IF keyed AND NOT spotless THEN
    FOREACH home IN ARRAY homes LOOP
      DELETE FROM idempotency_keys k
      USING unnest(p_account_id, p_idempotency_key, p_id, verdicts) AS t (account_id, idempotency_key, id, verdict)
      WHERE t.verdict NOT IN ('accepted', 'repeated')
        AND k.account_id = t.account_id AND k.key = t.idempotency_key AND k.message_id = t.id
        AND (home IS NULL OR k.account_id = home);
    END LOOP;

    -- A repeat in the same batch as its first shares the first's fate.
    FOR call IN
      SELECT t.n, first.n AS first
      FROM unnest(answers, verdicts) WITH ORDINALITY AS t (answer, verdict, n)
      JOIN unnest(p_id, verdicts) WITH ORDINALITY AS first (id, verdict, n) ON first.id = t.answer
      WHERE t.verdict = 'repeated' AND first.verdict <> 'accepted'
    LOOP
      verdicts[call.n] := verdicts[call.first];
      waits[call.n] := waits[call.first];
      caps_left[call.n] := caps_left[call.first];
    END LOOP;
  END IF;

  -- 3. What was accepted. Arrays unnested side by side in a select list yield their values on
  --    demand; in FROM each is first materialized, which took 6 of a send's 79 µs.
  INSERT INTO messages (account_id, id, from_email, recipients, subject, tags,
                        template, template_version, branding_version, stream, door, key_id, scheduled_at)
  SELECT t.account_id, t.id, t.from_email, t.recipients::text[], t.subject, t.tags::text[],
         t.template, t.template_version, t.branding_version, t.stream, t.door, t.key_id, t.scheduled_at
  FROM (
    SELECT unnest(p_account_id) AS account_id, unnest(p_id) AS id, unnest(p_from_email) AS from_email,
           unnest(p_recipients) AS recipients, unnest(p_subject) AS subject, unnest(p_tags) AS tags,
           unnest(p_template) AS template, unnest(p_template_version) AS template_version,
           unnest(p_branding_version) AS branding_version, unnest(p_stream) AS stream, unnest(p_door) AS door,
           unnest(p_key_id) AS key_id, unnest(p_scheduled_at) AS scheduled_at, unnest(verdicts) AS verdict
  ) AS t
  WHERE spotless OR t.verdict = 'accepted';

  INSERT INTO contents (account_id, message_id, head, html, text, attachments)
  SELECT t.account_id, t.id, t.head, t.html, t.text, t.attachments
  FROM (
    SELECT unnest(p_account_id) AS account_id, unnest(p_id) AS id, unnest(p_head) AS head, unnest(p_html) AS html,
           unnest(p_text) AS text, unnest(p_attachments) AS attachments, unnest(verdicts) AS verdict
  ) AS t
  WHERE spotless OR t.verdict = 'accepted';

  INSERT INTO due_messages (account_id, message_id, due_at, state, size, class)
  SELECT t.account_id, t.id, greatest(t.scheduled_at, clock_timestamp()),
         CASE WHEN t.scheduled_at > clock_timestamp() THEN 'waiting'::due_state ELSE 'ready' END, t.size, t.class
  FROM (
    SELECT unnest(p_account_id) AS account_id, unnest(p_id) AS id, unnest(p_size) AS size, unnest(p_class) AS class,
           unnest(p_scheduled_at) AS scheduled_at, unnest(p_approval) AS approval, unnest(verdicts) AS verdict
  ) AS t
  WHERE (spotless OR t.verdict = 'accepted') AND t.approval IS NULL;

  -- An email that waits for a person is not due; it gets a reason and a fingerprint instead.
  IF held THEN
    INSERT INTO approvals (account_id, message_id, key_id, reason, sha256, size, class, expires_at)
    SELECT t.account_id, t.id, t.key_id, split_part(t.approval, ' ', 1), decode(split_part(t.approval, ' ', 2), 'hex'),
           t.size, t.class, clock_timestamp() + interval '24 hours'
    FROM unnest(p_account_id, p_id, p_key_id, p_size, p_class, p_approval, verdicts)
      AS t (account_id, id, key_id, size, class, approval, verdict)
    WHERE (spotless OR t.verdict = 'accepted') AND t.approval IS NOT NULL;
  END IF;

  -- LIMIT keeps it a probe for each send: as a join, it could be planned for lists that are empty.
  IF p_listed_forms IS NOT NULL THEN
    FOREACH home IN ARRAY homes LOOP
      RETURN QUERY
        SELECT t.n::integer, 'listed', NULL::uuid, NULL::integer, NULL::bigint,
               NULL::bigint, NULL::integer, NULL::bigint, NULL::integer
        FROM unnest(p_account_id, p_listed_forms) WITH ORDINALITY AS t (account_id, listed_forms, n)
        CROSS JOIN LATERAL (
          SELECT FROM suppressions s
          WHERE s.account_id = t.account_id AND s.address = ANY (t.listed_forms::text[])
            AND (home IS NULL OR s.account_id = home)
          UNION ALL
          SELECT FROM unsubscribes u
          WHERE u.account_id = t.account_id AND u.address = ANY (t.listed_forms::text[])
            AND (home IS NULL OR u.account_id = home)
          LIMIT 1
        ) AS listed;
    END LOOP;
  END IF;

  IF NOT spotless THEN
    RETURN QUERY
      SELECT place.n, verdicts[place.n], answers[place.n], waits[place.n], caps_left[place.n],
             NULL::bigint, NULL::integer, NULL::bigint, NULL::integer
      FROM generate_subscripts(verdicts, 1) AS place (n)
      WHERE verdicts[place.n] <> 'accepted';
  END IF;
END $$;

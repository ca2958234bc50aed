-- Accepting: one call commits a batch of sends: idempotency, quota, rate, message, content and due row, each send with its own verdict.
-- Locks are taken in one order (idempotency keys, then accounts, each sorted), so batches wait for each other but never deadlock.
-- Answers what is not plain: a row for each send that was not simply accepted (n: its place in the batch), and a row for
-- each account that was asked (n null) with its allowance. A batch of one account that was all accepted is one row.
--
-- Its plans are made once per connection, often while a table or the day's partition is still empty. A plan that reads a
-- small table from end to end must not be kept for one that grows by thousands of rows a second (enable_seqscan): measured,
-- sends with idempotency keys fell to a fifth of their rate within seconds. They are kept all the same (plan_cache_mode, over
-- that of our connections): planning anew took the server 350 µs more for every batch.
CREATE OR REPLACE FUNCTION accept_sends(
  -- The sends, a column each: SEND_COLUMNS of src/sending/packed-send.ts, called by name. Here p_name is unnested as name.
  p_id uuid[], p_account_id bigint[], p_from_email text[], p_recipients text[], p_recipient_count integer[],
  p_subject text[], p_tags text[], p_template text[], p_template_version integer[], p_branding_version integer[],
  p_door text[], p_key_id uuid[], p_head bytea[], p_html bytea[], p_text bytea[], p_attachments bytea[],
  p_idempotency_key text[], p_request_hash bytea[], p_kept_seconds integer[], p_key_cap integer[],
  p_size integer[], p_class integer[],
  p_relay_down boolean, p_default_quota integer, p_default_rate integer
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
  keyed CONSTANT boolean := EXISTS (SELECT FROM unnest(p_idempotency_key) k WHERE k IS NOT NULL);
  spotless boolean;
  found_key record;
  asking record;
  call record;
  moment timestamptz;
  today date;
  a_quota integer;
  a_rate integer;
  used bigint;
  key_used bigint;
  purse double precision;
BEGIN
  -- 1. A key seen before answers as it did then. Waits for a transaction that is just writing the same key.
  IF keyed THEN
    INSERT INTO idempotency_keys AS kept (account_id, key, request_hash, message_id, created_at, kept_seconds)
    SELECT DISTINCT ON (t.account_id, t.idempotency_key)
           t.account_id, t.idempotency_key, t.request_hash, t.id, clock_timestamp(), t.kept_seconds
    FROM unnest(p_account_id, p_idempotency_key, p_request_hash, p_id, p_kept_seconds)
      WITH ORDINALITY AS t (account_id, idempotency_key, request_hash, id, kept_seconds, n)
    WHERE t.idempotency_key IS NOT NULL
    ORDER BY t.account_id, t.idempotency_key, t.n
    ON CONFLICT (account_id, key) DO UPDATE
      SET request_hash = excluded.request_hash, message_id = excluded.message_id,
          created_at = excluded.created_at, kept_seconds = excluded.kept_seconds
      WHERE kept.created_at < clock_timestamp() - make_interval(secs => kept.kept_seconds);

    FOR found_key IN
      SELECT t.n, kept.message_id, kept.request_hash = t.request_hash AS same
      FROM unnest(p_account_id, p_idempotency_key, p_request_hash, p_id)
        WITH ORDINALITY AS t (account_id, idempotency_key, request_hash, id, n)
      JOIN idempotency_keys kept ON kept.account_id = t.account_id AND kept.key = t.idempotency_key
      WHERE kept.message_id <> t.id
    LOOP
      verdicts[found_key.n] := CASE WHEN found_key.same THEN 'repeated' ELSE 'conflict' END;
      answers[found_key.n] := found_key.message_id;
    END LOOP;
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
    -- A ramp doubles every day (src/accounts/plans.ts); without one it is null, which least passes over.
    SELECT least(coalesce(daily_quota, p_default_quota),
                 ramp_start * 2 ^ least(30, greatest(0, today - (created_at AT TIME ZONE 'UTC')::date))),
           coalesce(rate_per_second, p_default_rate)
      INTO a_quota, a_rate FROM accounts WHERE id = asking.account_id;

    INSERT INTO account_usage AS u (account_id, day, recipients, tokens, refilled_at)
    VALUES (asking.account_id, today, 0, 2 * a_rate, moment)
    ON CONFLICT (account_id) DO UPDATE SET
      recipients = CASE WHEN u.day < excluded.day THEN 0 ELSE u.recipients END,
      day = greatest(u.day, excluded.day),
      tokens = least(2 * a_rate,
        u.tokens + a_rate * greatest(0, extract(epoch FROM excluded.refilled_at - u.refilled_at))),
      refilled_at = greatest(u.refilled_at, excluded.refilled_at)
    RETURNING u.recipients, u.tokens INTO used, purse;

    IF NOT p_relay_down AND NOT asking.capped AND asking.calls <= purse AND used + asking.recipients <= a_quota THEN
      used := used + asking.recipients;
      purse := purse - asking.calls;
    ELSE
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
          waits[call.n] := greatest(1, ceil((1 - purse) / a_rate));
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
    END IF;

    UPDATE account_usage SET recipients = used, tokens = purse WHERE account_id = asking.account_id;
    RETURN QUERY SELECT NULL::integer, NULL, NULL::uuid, NULL::integer, NULL::bigint,
                        asking.account_id, a_quota, a_quota - used, a_rate;
  END LOOP;

  spotless := 'accepted' = ALL (verdicts);
  IF keyed AND NOT spotless THEN
    DELETE FROM idempotency_keys k
    USING unnest(p_account_id, p_idempotency_key, p_id, verdicts) AS t (account_id, idempotency_key, id, verdict)
    WHERE t.verdict IN ('over-cap', 'over-quota', 'over-rate', 'relay-down')
      AND k.account_id = t.account_id AND k.key = t.idempotency_key AND k.message_id = t.id;

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

  -- 3. What was accepted.
  INSERT INTO messages (account_id, id, from_email, recipients, subject, tags,
                        template, template_version, branding_version, door, key_id)
  SELECT t.account_id, t.id, t.from_email, t.recipients::text[], t.subject, t.tags::text[],
         t.template, t.template_version, t.branding_version, t.door, t.key_id
  FROM unnest(p_account_id, p_id, p_from_email, p_recipients, p_subject, p_tags,
              p_template, p_template_version, p_branding_version, p_door, p_key_id, verdicts)
    AS t (account_id, id, from_email, recipients, subject, tags,
          template, template_version, branding_version, door, key_id, verdict)
  WHERE spotless OR t.verdict = 'accepted';

  INSERT INTO contents (account_id, message_id, head, html, text, attachments)
  SELECT t.account_id, t.id, t.head, t.html, t.text, t.attachments
  FROM unnest(p_account_id, p_id, p_head, p_html, p_text, p_attachments, verdicts)
    AS t (account_id, id, head, html, text, attachments, verdict)
  WHERE spotless OR t.verdict = 'accepted';

  INSERT INTO due_messages (account_id, message_id, due_at, size, class)
  SELECT t.account_id, t.id, clock_timestamp(), t.size, t.class
  FROM unnest(p_account_id, p_id, p_size, p_class, verdicts) AS t (account_id, id, size, class, verdict)
  WHERE spotless OR t.verdict = 'accepted';

  IF NOT spotless THEN
    RETURN QUERY
      SELECT place.n, verdicts[place.n], answers[place.n], waits[place.n], caps_left[place.n],
             NULL::bigint, NULL::integer, NULL::bigint, NULL::integer
      FROM generate_subscripts(verdicts, 1) AS place (n)
      WHERE verdicts[place.n] <> 'accepted';
  END IF;
END $$;

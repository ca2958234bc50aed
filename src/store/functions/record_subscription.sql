-- Records that an address no longer gets email, or gets it again: an event without a message, and a
-- webhook row for every endpoint subscribed to `subscription`. Called for each row that
-- suppress_addresses and the like changed, so that a change and its event are one.
CREATE OR REPLACE FUNCTION record_subscription(
  p_account_id bigint, p_address text, p_stream text, p_suppressing boolean, p_reason text, p_origin text, p_message_id uuid
) RETURNS void LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
  moment CONSTANT timestamptz := clock_timestamp();
  own_id CONSTANT uuid := uuid_at(moment);
  endpoint uuid;
  delivery uuid;
BEGIN
  INSERT INTO events (account_id, message_id, id, kind, at, sequence, recipients, detail, relay_message_id)
  VALUES (p_account_id, own_id, own_id, 'subscription', moment, 1, ARRAY[p_address],
          jsonb_build_object('stream', p_stream, 'suppressing', p_suppressing, 'reason', p_reason, 'origin', p_origin,
                             'message', p_message_id), '');
  FOR endpoint IN
    SELECT w.id FROM webhook_endpoints w
    WHERE w.account_id = p_account_id AND w.disabled_at IS NULL AND 'subscription' = ANY (w.event_types)
  LOOP
    delivery := uuid_at(moment);
    INSERT INTO webhook_deliveries (account_id, endpoint_id, id, message_id, event_id, event_type)
    VALUES (p_account_id, endpoint, delivery, own_id, own_id, 'subscription');
    INSERT INTO webhook_due (account_id, endpoint_id, delivery_id, message_id, event_id, due_at)
    VALUES (p_account_id, endpoint, delivery, own_id, own_id, moment);
  END LOOP;
END $$;

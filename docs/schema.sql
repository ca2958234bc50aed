CREATE TYPE due_state AS ENUM ('ready', 'in hand', 'waiting', 'set aside');

CREATE TYPE message_status AS ENUM ('queued', 'sent', 'delivered', 'opened', 'clicked', 'bounced', 'complained');

SET check_function_bodies = off;

-- Function in a file: accept_sends(p_id uuid[], p_account_id bigint[], p_from_email text[], p_recipients text[], p_recipient_count integer[], p_subject text[], p_tags text[], p_template text[], p_template_version integer[], p_branding_version integer[], p_stream text[], p_door text[], p_key_id uuid[], p_head bytea[], p_html bytea[], p_text bytea[], p_attachments bytea[], p_idempotency_key text[], p_request_hash bytea[], p_kept_seconds integer[], p_key_cap integer[], p_size integer[], p_class integer[], p_scheduled_at timestamp with time zone[], p_approval text[], p_listed_forms text[], p_relay_down boolean, p_default_quota integer, p_default_rate integer, p_whole boolean, p_apart boolean)

-- Function in a file: captured_lanes()

-- Function in a file: choose_plans(p_home bigint[])

-- Function in a file: claim_due(p_lease uuid, p_after bigint, p_most integer, p_lanes integer, p_full bigint[], p_apart boolean, p_by timestamp with time zone)

-- Function in a file: claim_shard(p_lease uuid, p_lanes bigint[], p_firsts smallint[], p_each integer, p_all boolean, p_lots double precision[])

-- Function in a file: day_size(p_day regclass, OUT messages double precision, OUT indexed double precision)

-- Function in a file: fill_lanes(p_most integer)

-- Function in a file: free_in_hand(p_dead uuid[])

-- Function in a file: give_back_strays(p_lease uuid, p_account_id bigint[], p_message_id uuid[])

-- Function in a file: homes_here(p_table regclass, p_condition text)

-- Function in a file: in_time(p_by timestamp with time zone)

-- Function in a file: keep_attempts(p_account_id bigint[], p_message_id uuid[], p_id uuid[], p_attempt integer[], p_server text[], p_recipients text[], p_after_ms integer[], p_most integer, p_home bigint[])

-- Function in a file: leases_in_hand()

-- Function in a file: leave_streams(p_account_id bigint[], p_address text[], p_stream text[], p_message_id uuid[], p_origin text)

-- Function in a file: lift_suppression(p_account_id bigint, p_forms text[], p_origin text)

-- Function in a file: load_emails(p_account_id bigint[], p_id uuid[], p_apart boolean, p_default_stream text)

-- Function in a file: load_events(p_account_id bigint[], p_message_id uuid[], p_id uuid[], p_earliest uuid, p_latest uuid, p_home bigint[])

-- Function in a file: queue_size_here(OUT mails double precision, OUT bytes double precision, OUT later double precision, OUT later_bytes double precision)

-- Function in a file: read_timelines(p_account_id bigint[], p_message_id uuid[], p_earliest uuid, p_latest uuid, p_home bigint[])

-- Function in a file: ready_lanes(p_after bigint, p_lanes integer, p_full bigint[])

-- Function in a file: record_events(p_account_id bigint[], p_message_id uuid[], p_event_id uuid[], p_kind text[], p_status text[], p_hook text[], p_recipients text[], p_detail text[], p_relay_id text[], p_home bigint[])

-- Function in a file: record_outcomes(p_account_id bigint[], p_message_id uuid[], p_event_id uuid[], p_kind text[], p_status text[], p_hook text[], p_recipients text[], p_detail text[], p_relay_id text[], k_account_id bigint[], k_message_id uuid[], k_id uuid[], k_attempt integer[], k_server text[], k_recipients text[], k_after_ms integer[], k_most integer, f_account_id bigint[], f_message_id uuid[], f_claims integer[], l_account_id bigint[], l_message_id uuid[], l_claims integer[], l_state text[], l_after_ms integer[], l_unbegun integer[], l_remaining text[], l_unknown text[], l_response text[], l_reason text[], p_home bigint[])

-- Function in a file: record_subscription(p_account_id bigint, p_address text, p_stream text, p_suppressing boolean, p_reason text, p_origin text, p_message_id uuid)

-- Function in a file: record_webhook_news(p_account_id bigint[], p_endpoint_id uuid[], p_delivery_id uuid[], p_state text[], p_attempts integer[], p_due_at timestamp with time zone[], p_ended_at timestamp with time zone[], p_status integer[], p_response text[], p_truncated integer[], p_error text[], p_duration_ms integer[], c_account_id bigint[], c_id uuid[], c_failures integer[], c_failing_since timestamp with time zone[], c_paused_until timestamp with time zone[], c_disable text[], c_release integer[], p_earliest uuid, p_latest uuid, p_lease uuid, p_now timestamp with time zone, p_home bigint[])

-- Function in a file: rejoin_streams(p_account_id bigint, p_forms text[], p_streams text[], p_origin text)

-- Function in a file: reported_emails(p_account_id bigint[], p_message_id uuid[], p_default_stream text, p_most_events integer, p_home bigint[])

-- Function in a file: suppress_addresses(p_account_id bigint[], p_address text[], p_reason text[], p_message_id uuid[], p_origin text)

-- Function in a file: tables_here(p_table regclass)

-- Function in a file: take_webhooks(p_now timestamp with time zone, p_lease uuid, p_lease_ms integer, p_endpoints integer, p_kept integer, p_rows integer, p_in_hand uuid[], p_short_account_id bigint[], p_short_id uuid[], p_served_account_id bigint[], p_served_id uuid[])

-- Function in a file: tend_queue(p_lease uuid, p_lease_ms integer, p_free boolean, p_seen uuid[])

-- Function in a file: uuid_at(p_at timestamp with time zone)

CREATE OR REPLACE FUNCTION public.message_words(p_account bigint, p_from text, p_recipients text[], p_tags text[], p_template text, p_stream text, p_subject text)
 RETURNS integer[]
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE COST 10000
AS $function$
DECLARE
  words integer[] := ARRAY[
    hashtext(p_account || ' from ' || lower(p_from)),
    hashtext(p_account || ' from @' || split_part(lower(p_from), '@', -1)),
    hashtext(p_account || ' stream ' || coalesce(p_stream, 'transactional'))];
  word text;
BEGIN
  FOREACH word IN ARRAY p_recipients LOOP
    words := words || hashtext(p_account || ' to ' || lower(word))
                   || hashtext(p_account || ' to @' || split_part(lower(word), '@', -1));
  END LOOP;
  FOREACH word IN ARRAY coalesce(p_tags, '{}') LOOP
    words := words || hashtext(p_account || ' tag ' || word);
  END LOOP;
  IF p_template IS NOT NULL THEN
    words := words || hashtext(p_account || ' template ' || p_template);
  END IF;
  FOREACH word IN ARRAY regexp_split_to_array(lower(p_subject), '[^[:alnum:]]+') LOOP
    IF word <> '' THEN
      words := words || hashtext(p_account || ' word ' || word);
    END IF;
  END LOOP;
  RETURN words;
END $function$;

CREATE TABLE account_retention (
  account_id bigint NOT NULL,
  retention_days integer,
  content_retention_days integer,
  CONSTRAINT account_retention_pkey PRIMARY KEY (account_id),
  CONSTRAINT account_retention_content_retention_days_check CHECK ((content_retention_days >= 1)),
  CONSTRAINT account_retention_retention_days_check CHECK ((retention_days >= 1))
);

CREATE TABLE account_template_versions (
  account_id bigint NOT NULL,
  slug text NOT NULL,
  version integer NOT NULL,
  cloned_from text,
  based_on integer,
  subject text NOT NULL,
  preheader text NOT NULL,
  html text NOT NULL,
  text text,
  variables json NOT NULL,
  sample json NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  published_at timestamp with time zone,
  messages json NOT NULL DEFAULT '{}'::json,
  name text,
  description text,
  CONSTRAINT account_template_versions_pkey PRIMARY KEY (account_id, slug, version),
  CONSTRAINT account_template_versions_check CHECK ((num_nonnulls(cloned_from, based_on) <= 1)),
  CONSTRAINT account_template_versions_version_check CHECK ((version >= 1))
);

CREATE TABLE account_templates (
  account_id bigint NOT NULL,
  slug text NOT NULL,
  name text NOT NULL,
  category text NOT NULL,
  description text NOT NULL,
  published_version integer,
  archived_at timestamp with time zone,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  stream text,
  CONSTRAINT account_templates_pkey PRIMARY KEY (account_id, slug),
  CONSTRAINT account_templates_slug_check CHECK (((slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$'::text) AND (length(slug) <= 64)))
);

CREATE TABLE account_usage (
  account_id bigint NOT NULL,
  day date NOT NULL,
  recipients bigint NOT NULL,
  tokens double precision NOT NULL,
  refilled_at timestamp with time zone NOT NULL,
  CONSTRAINT account_usage_pkey PRIMARY KEY (account_id)
) WITH (fillfactor=20);

CREATE TABLE accounts (
  id bigint GENERATED BY DEFAULT AS IDENTITY NOT NULL,
  name text NOT NULL,
  plan text NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  version bigint NOT NULL DEFAULT 1,
  daily_quota integer,
  rate_per_second integer,
  ramp_start integer,
  delivery_limit integer,
  track_opens boolean NOT NULL DEFAULT true,
  track_clicks boolean NOT NULL DEFAULT true,
  one_click_unsubscribe boolean NOT NULL DEFAULT false,
  unknown_outcome text NOT NULL DEFAULT 'send_again'::text,
  suspended_at timestamp with time zone,
  suspended_reason text,
  paused_at timestamp with time zone,
  paused_reason text,
  resumed_at timestamp with time zone,
  refuse_unaligned boolean NOT NULL DEFAULT false,
  lint_sends boolean NOT NULL DEFAULT false,
  second_factor_required boolean NOT NULL DEFAULT false,
  locale text,
  CONSTRAINT accounts_pkey PRIMARY KEY (id),
  CONSTRAINT accounts_check CHECK (((suspended_at IS NULL) = (suspended_reason IS NULL))),
  CONSTRAINT accounts_check1 CHECK (((paused_at IS NULL) = (paused_reason IS NULL))),
  CONSTRAINT accounts_daily_quota_check CHECK ((daily_quota >= 0)),
  CONSTRAINT accounts_delivery_limit_check CHECK ((delivery_limit > 0)),
  CONSTRAINT accounts_locale_check CHECK (((length(locale) >= 2) AND (length(locale) <= 35))),
  CONSTRAINT accounts_plan_check CHECK ((plan = ANY (ARRAY['paid'::text, 'free'::text]))),
  CONSTRAINT accounts_ramp_start_check CHECK ((ramp_start > 0)),
  CONSTRAINT accounts_rate_per_second_check CHECK ((rate_per_second >= 1)),
  CONSTRAINT accounts_unknown_outcome_check CHECK ((unknown_outcome = ANY (ARRAY['send_again'::text, 'count_as_sent'::text])))
);

CREATE TABLE address_verifications (
  account_id bigint NOT NULL,
  address text NOT NULL,
  token_hash bytea NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT address_verifications_pkey PRIMARY KEY (account_id, address)
);

CREATE TABLE answered_challenges (
  hash bytea NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT answered_challenges_pkey PRIMARY KEY (hash)
);

CREATE TABLE api_keys (
  account_id bigint NOT NULL,
  id uuid NOT NULL,
  name text,
  hash bytea NOT NULL,
  prefix text NOT NULL,
  scopes text[] NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  last_used_at timestamp with time zone,
  revoked_at timestamp with time zone,
  expires_at timestamp with time zone,
  networks text[],
  allowed_recipients text[],
  templates_only boolean NOT NULL DEFAULT false,
  no_bcc boolean NOT NULL DEFAULT false,
  daily_cap integer,
  sandbox_only boolean NOT NULL DEFAULT false,
  approval text NOT NULL DEFAULT 'never'::text,
  own_messages boolean NOT NULL DEFAULT false,
  senders text[],
  reply_to text[],
  link_hosts text[],
  CONSTRAINT api_keys_pkey PRIMARY KEY (account_id, id),
  CONSTRAINT api_keys_account_id_hash_key UNIQUE (account_id, hash),
  CONSTRAINT api_keys_approval_check CHECK ((approval = ANY (ARRAY['never'::text, 'always'::text, 'first_contact'::text, 'outside_domain'::text]))),
  CONSTRAINT api_keys_daily_cap_check CHECK ((daily_cap >= 1))
);

CREATE TABLE approval_links (
  account_id bigint NOT NULL,
  token_hash bytea NOT NULL,
  message_id uuid NOT NULL,
  user_id uuid NOT NULL,
  sha256 bytea NOT NULL,
  CONSTRAINT approval_links_pkey PRIMARY KEY (account_id, token_hash)
);

CREATE TABLE approvals (
  account_id bigint NOT NULL,
  message_id uuid NOT NULL,
  key_id uuid,
  reason text NOT NULL,
  sha256 bytea NOT NULL,
  size integer NOT NULL,
  class smallint NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  told_at timestamp with time zone,
  state text NOT NULL DEFAULT 'waiting'::text,
  decided_at timestamp with time zone,
  decided_by text,
  CONSTRAINT approvals_pkey PRIMARY KEY (account_id, message_id),
  CONSTRAINT approvals_decided CHECK (((state = 'waiting'::text) = (decided_at IS NULL))),
  CONSTRAINT approvals_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'approved'::text, 'declined'::text, 'expired'::text, 'cancelled'::text])))
);

CREATE TABLE audit (
  account_id bigint NOT NULL,
  id uuid NOT NULL,
  at timestamp with time zone NOT NULL DEFAULT now(),
  actor_kind text NOT NULL,
  actor_id text,
  actor_name text,
  door text NOT NULL,
  action text NOT NULL,
  target text NOT NULL,
  before jsonb,
  after jsonb,
  request_id text NOT NULL,
  CONSTRAINT audit_pkey PRIMARY KEY (account_id, id),
  CONSTRAINT audit_actor_kind_check CHECK ((actor_kind = ANY (ARRAY['key'::text, 'person'::text, 'command'::text])))
);

CREATE TABLE authenticator_apps (
  user_id uuid NOT NULL,
  secret bytea NOT NULL,
  confirmed_at timestamp with time zone,
  last_step bigint NOT NULL DEFAULT 0,
  CONSTRAINT authenticator_apps_pkey PRIMARY KEY (user_id)
);

CREATE TABLE branding (
  account_id bigint NOT NULL,
  version integer NOT NULL,
  fields jsonb NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT branding_pkey PRIMARY KEY (account_id, version),
  CONSTRAINT branding_version_check CHECK ((version >= 1))
);

CREATE TABLE contents (
  account_id bigint NOT NULL,
  message_id uuid NOT NULL,
  head bytea NOT NULL,
  html bytea,
  text bytea,
  attachments bytea,
  CONSTRAINT contents_pkey PRIMARY KEY (account_id, message_id)
) PARTITION BY RANGE (message_id);

CREATE TABLE delivery_attempts (
  account_id bigint NOT NULL,
  message_id uuid NOT NULL,
  id uuid NOT NULL,
  at timestamp with time zone NOT NULL DEFAULT now(),
  attempt integer,
  server text NOT NULL,
  recipients jsonb NOT NULL,
  next_at timestamp with time zone,
  CONSTRAINT delivery_attempts_pkey PRIMARY KEY (account_id, message_id, id)
);

CREATE TABLE delivery_leases (
  id uuid NOT NULL,
  held_until timestamp with time zone NOT NULL,
  embedded boolean NOT NULL DEFAULT false,
  CONSTRAINT delivery_leases_pkey PRIMARY KEY (id)
) WITH (fillfactor=20);

CREATE TABLE delivery_processes (
  id uuid NOT NULL,
  seen_at timestamp with time zone NOT NULL,
  relay_down boolean NOT NULL,
  retry_at timestamp with time zone,
  detail text,
  relays jsonb,
  CONSTRAINT delivery_processes_pkey PRIMARY KEY (id)
);

CREATE TABLE disabled_link_hosts (
  host text NOT NULL,
  reason text NOT NULL,
  disabled_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT disabled_link_hosts_pkey PRIMARY KEY (host)
);

CREATE TABLE disabled_links (
  account_id bigint NOT NULL,
  message_id uuid NOT NULL,
  url text NOT NULL,
  reason text NOT NULL,
  disabled_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT disabled_links_pkey PRIMARY KEY (account_id, message_id, url)
);

CREATE TABLE domains (
  account_id bigint NOT NULL,
  domain text NOT NULL,
  challenge text NOT NULL,
  selector text NOT NULL,
  rsa_public text NOT NULL,
  rsa_private bytea NOT NULL,
  ed25519_public text NOT NULL,
  ed25519_private bytea NOT NULL,
  return_path_seen boolean NOT NULL DEFAULT false,
  checked_at timestamp with time zone,
  findings jsonb,
  missing_since timestamp with time zone,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  return_path_proved_at timestamp with time zone,
  alignment jsonb,
  keys_since timestamp with time zone,
  next_selector text,
  next_rsa_public text,
  next_rsa_private bytea,
  next_ed25519_public text,
  next_ed25519_private bytea,
  next_seen_at timestamp with time zone,
  retired_selector text,
  retired_at timestamp with time zone,
  CONSTRAINT domains_pkey PRIMARY KEY (account_id, domain)
);

CREATE TABLE due_messages (
  account_id bigint NOT NULL,
  message_id uuid NOT NULL,
  due_at timestamp with time zone NOT NULL,
  state due_state NOT NULL DEFAULT 'ready'::due_state,
  class smallint NOT NULL DEFAULT 1,
  lease uuid,
  claims integer NOT NULL DEFAULT 0,
  attempts integer NOT NULL DEFAULT 0,
  deaths smallint NOT NULL DEFAULT 0,
  remaining text[],
  unknown text[],
  size integer NOT NULL,
  last_response text,
  set_aside_at timestamp with time zone,
  reason text,
  CONSTRAINT due_messages_pkey PRIMARY KEY (account_id, message_id),
  CONSTRAINT due_messages_class_check CHECK (((class >= 0) AND (class <= 3))) NOT VALID,
  CONSTRAINT due_messages_reason CHECK (((state = 'set aside'::due_state) = (reason IS NOT NULL)))
) WITH (fillfactor=70);

CREATE TABLE events (
  account_id bigint NOT NULL,
  message_id uuid NOT NULL,
  id uuid NOT NULL,
  kind text NOT NULL,
  at timestamp with time zone NOT NULL,
  sequence integer,
  recipients text[] NOT NULL,
  detail jsonb NOT NULL,
  relay_message_id text,
  CONSTRAINT events_pkey PRIMARY KEY (account_id, message_id, id),
  CONSTRAINT events_kind_check CHECK ((kind = ANY (ARRAY['sent'::text, 'delivered'::text, 'opened'::text, 'clicked'::text, 'bounced'::text, 'complained'::text, 'subscription'::text]))) NOT VALID
) PARTITION BY RANGE (message_id);

CREATE TABLE feedback_mails (
  id uuid NOT NULL,
  fingerprint bytea NOT NULL,
  received_at timestamp with time zone NOT NULL DEFAULT now(),
  kind text NOT NULL,
  why text NOT NULL DEFAULT ''::text,
  network text NOT NULL DEFAULT ''::text,
  feedback_type text,
  account_id bigint,
  message_id uuid,
  envelope_from text NOT NULL,
  recipient text NOT NULL,
  subject text NOT NULL,
  raw bytea NOT NULL,
  CONSTRAINT feedback_mails_pkey PRIMARY KEY (id),
  CONSTRAINT feedback_mails_fingerprint_key UNIQUE (fingerprint)
);

CREATE TABLE idempotency_keys (
  account_id bigint NOT NULL,
  key text NOT NULL,
  request_hash bytea NOT NULL,
  message_id uuid NOT NULL,
  created_at timestamp with time zone NOT NULL,
  kept_seconds integer NOT NULL DEFAULT 86400,
  CONSTRAINT idempotency_keys_pkey PRIMARY KEY (account_id, key)
);

CREATE TABLE identities (
  account_id bigint NOT NULL,
  value text NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  verified_at timestamp with time zone,
  verified_by text,
  CONSTRAINT identities_pkey PRIMARY KEY (account_id, value),
  CONSTRAINT identities_verified_by_check CHECK ((verified_by = ANY (ARRAY['operator'::text, 'dns'::text, 'link'::text])))
);

CREATE TABLE installation (
  only_one boolean NOT NULL DEFAULT true,
  secret bytea,
  verifier bytea,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  secret_since timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT installation_pkey PRIMARY KEY (only_one),
  CONSTRAINT installation_check CHECK (((secret IS NOT NULL) OR (verifier IS NOT NULL))),
  CONSTRAINT installation_only_one_check CHECK (only_one)
);

CREATE TABLE invitations (
  account_id bigint NOT NULL,
  id uuid NOT NULL,
  email text NOT NULL,
  role text NOT NULL,
  invited_by text NOT NULL,
  token_hash bytea NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT invitations_pkey PRIMARY KEY (account_id, id),
  CONSTRAINT invitations_account_id_email_key UNIQUE (account_id, email),
  CONSTRAINT invitations_role_check CHECK ((role = ANY (ARRAY['viewer'::text, 'developer'::text, 'owner'::text])))
);

CREATE TABLE key_usage (
  account_id bigint NOT NULL,
  key_id uuid NOT NULL,
  day date NOT NULL,
  recipients bigint NOT NULL,
  CONSTRAINT key_usage_pkey PRIMARY KEY (account_id, key_id)
) WITH (fillfactor=20);

CREATE TABLE logos (
  account_id bigint NOT NULL,
  hash text NOT NULL,
  content_type text NOT NULL,
  content bytea NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT logos_pkey PRIMARY KEY (account_id, hash)
);

CREATE TABLE maintenance_runs (
  only_one boolean NOT NULL DEFAULT true,
  last_run_at timestamp with time zone NOT NULL,
  steady_since timestamp with time zone NOT NULL,
  jumped_from timestamp with time zone,
  CONSTRAINT maintenance_runs_pkey PRIMARY KEY (only_one),
  CONSTRAINT maintenance_runs_only_one_check CHECK (only_one)
);

CREATE TABLE members (
  account_id bigint NOT NULL,
  user_id uuid NOT NULL,
  role text NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT members_pkey PRIMARY KEY (account_id, user_id),
  CONSTRAINT members_role_check CHECK ((role = ANY (ARRAY['viewer'::text, 'developer'::text, 'owner'::text])))
);

CREATE TABLE message_hours (
  account_id bigint NOT NULL,
  hour timestamp with time zone NOT NULL,
  counts jsonb NOT NULL,
  counted_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT message_hours_pkey PRIMARY KEY (account_id, hour)
);

CREATE TABLE messages (
  account_id bigint NOT NULL,
  id uuid NOT NULL,
  status message_status NOT NULL DEFAULT 'queued'::message_status,
  last_sequence integer NOT NULL DEFAULT 0,
  from_email text NOT NULL,
  recipients text[] NOT NULL,
  subject text NOT NULL,
  tags text[],
  template text,
  template_version integer,
  branding_version integer,
  door text NOT NULL,
  key_id uuid,
  relay_message_id text,
  last_delay jsonb,
  stream text,
  scheduled_at timestamp with time zone,
  cancelled_at timestamp with time zone,
  CONSTRAINT messages_pkey PRIMARY KEY (account_id, id)
) PARTITION BY RANGE (id);

CREATE TABLE notices (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  user_id uuid NOT NULL,
  kind text NOT NULL,
  detail jsonb NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  due_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT notices_pkey PRIMARY KEY (id)
);

CREATE TABLE passkeys (
  id bytea NOT NULL,
  user_id uuid NOT NULL,
  name text NOT NULL,
  public_key bytea NOT NULL,
  counter bigint NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  last_used_at timestamp with time zone,
  CONSTRAINT passkeys_pkey PRIMARY KEY (id)
);

CREATE TABLE previous_secrets (
  verifier bytea NOT NULL,
  token_keys bytea NOT NULL,
  replaced_at timestamp with time zone NOT NULL DEFAULT now(),
  valid_until timestamp with time zone NOT NULL,
  CONSTRAINT previous_secrets_pkey PRIMARY KEY (verifier)
);

CREATE TABLE processes (
  id uuid NOT NULL,
  roles text[] NOT NULL,
  host text NOT NULL,
  pid integer NOT NULL,
  version text NOT NULL,
  started_at timestamp with time zone NOT NULL DEFAULT now(),
  seen_at timestamp with time zone NOT NULL DEFAULT now(),
  stopped_at timestamp with time zone,
  opened_at text,
  asked jsonb,
  CONSTRAINT processes_pkey PRIMARY KEY (id)
) WITH (fillfactor=70);

CREATE TABLE provider_nonces (
  provider text NOT NULL,
  nonce bytea NOT NULL,
  said bytea NOT NULL,
  seen_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT provider_nonces_pkey PRIMARY KEY (provider, nonce)
);

CREATE TABLE receiver_days (
  account_id bigint NOT NULL,
  day timestamp with time zone NOT NULL,
  counts jsonb NOT NULL,
  counted_at timestamp with time zone NOT NULL,
  CONSTRAINT receiver_days_pkey PRIMARY KEY (account_id, day)
);

CREATE TABLE recipient_hours (
  account_id bigint NOT NULL,
  hour timestamp with time zone NOT NULL,
  counts jsonb NOT NULL,
  counted_at timestamp with time zone NOT NULL,
  CONSTRAINT recipient_hours_pkey PRIMARY KEY (account_id, hour)
);

CREATE TABLE recovery_codes (
  user_id uuid NOT NULL,
  hash bytea NOT NULL,
  CONSTRAINT recovery_codes_pkey PRIMARY KEY (user_id, hash)
);

CREATE TABLE relay_url (
  only_one boolean NOT NULL DEFAULT true,
  place text,
  CONSTRAINT relay_url_pkey PRIMARY KEY (only_one),
  CONSTRAINT relay_url_only_one_check CHECK (only_one)
);

CREATE TABLE relay_usage (
  relay text NOT NULL,
  day date NOT NULL,
  used integer NOT NULL,
  CONSTRAINT relay_usage_pkey PRIMARY KEY (relay, day)
);

CREATE TABLE relays (
  name text NOT NULL,
  url bytea,
  weight integer NOT NULL DEFAULT 1,
  connections integer,
  rate_per_second integer,
  daily_limit integer,
  enabled boolean NOT NULL DEFAULT true,
  rules jsonb NOT NULL DEFAULT '[]'::jsonb,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT relays_pkey PRIMARY KEY (name),
  CONSTRAINT relays_connections_check CHECK ((connections > 0)),
  CONSTRAINT relays_daily_limit_check CHECK ((daily_limit > 0)),
  CONSTRAINT relays_rate_per_second_check CHECK ((rate_per_second > 0)),
  CONSTRAINT relays_weight_check CHECK ((weight >= 0))
);

CREATE TABLE return_path_probes (
  id uuid NOT NULL,
  batch uuid NOT NULL,
  host text NOT NULL,
  relay text NOT NULL,
  of_account bigint,
  of_domain text,
  sent_at timestamp with time zone NOT NULL DEFAULT now(),
  fault text,
  returned_at timestamp with time zone,
  CONSTRAINT return_path_probes_pkey PRIMARY KEY (id)
);

CREATE TABLE sandbox_acts (
  id uuid NOT NULL,
  mail_id uuid NOT NULL,
  script text NOT NULL,
  step integer NOT NULL DEFAULT 0,
  recipients text[] NOT NULL,
  due_at timestamp with time zone NOT NULL,
  attempts integer NOT NULL DEFAULT 0,
  CONSTRAINT sandbox_acts_pkey PRIMARY KEY (id)
) WITH (fillfactor=70);

CREATE TABLE sandbox_mails (
  id uuid NOT NULL,
  captured_at timestamp with time zone NOT NULL DEFAULT now(),
  envelope_from text NOT NULL,
  recipients text[] NOT NULL,
  envelope_id text,
  raw bytea NOT NULL,
  account_id bigint,
  message_id uuid,
  door text,
  header_from text NOT NULL DEFAULT ''::text,
  subject text NOT NULL DEFAULT ''::text,
  codes text[] NOT NULL DEFAULT '{}'::text[],
  links jsonb NOT NULL DEFAULT '[]'::jsonb,
  CONSTRAINT sandbox_mails_pkey PRIMARY KEY (id)
);

CREATE TABLE schema_functions (
  name text NOT NULL,
  hash bytea NOT NULL,
  CONSTRAINT schema_functions_pkey PRIMARY KEY (name)
);

CREATE TABLE schema_migrations (
  version integer NOT NULL,
  name text NOT NULL,
  applied_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT schema_migrations_pkey PRIMARY KEY (version)
);

CREATE TABLE sessions (
  id uuid NOT NULL,
  user_id uuid NOT NULL,
  account_id bigint,
  hash bytea NOT NULL,
  previous_hash bytea,
  previous_until timestamp with time zone,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  rotated_at timestamp with time zone NOT NULL DEFAULT now(),
  seen_at timestamp with time zone NOT NULL DEFAULT now(),
  device text NOT NULL DEFAULT ''::text,
  ip_address text NOT NULL DEFAULT ''::text,
  second_factor boolean NOT NULL DEFAULT false,
  proved_at timestamp with time zone NOT NULL DEFAULT '-infinity'::timestamp with time zone,
  CONSTRAINT sessions_pkey PRIMARY KEY (id),
  CONSTRAINT sessions_hash_key UNIQUE (hash),
  CONSTRAINT sessions_previous_hash_key UNIQUE (previous_hash),
  CONSTRAINT sessions_check CHECK (((previous_hash IS NULL) = (previous_until IS NULL)))
) WITH (fillfactor=70);

CREATE TABLE sign_in_places (
  user_id uuid NOT NULL,
  network text NOT NULL,
  device text NOT NULL,
  last_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT sign_in_places_pkey PRIMARY KEY (user_id, network, device)
);

CREATE TABLE sign_in_tries (
  subject text NOT NULL,
  tries integer NOT NULL,
  tried_at timestamp with time zone NOT NULL,
  free_at timestamp with time zone NOT NULL,
  CONSTRAINT sign_in_tries_pkey PRIMARY KEY (subject)
) WITH (fillfactor=70);

CREATE TABLE streams (
  account_id bigint NOT NULL,
  name text NOT NULL,
  kind text NOT NULL,
  title text NOT NULL,
  description text NOT NULL,
  unsubscribe boolean,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  archived_at timestamp with time zone,
  CONSTRAINT streams_pkey PRIMARY KEY (account_id, name),
  CONSTRAINT streams_check CHECK (((kind = 'transactional'::text) OR COALESCE(unsubscribe, false))),
  CONSTRAINT streams_check1 CHECK (((name <> 'transactional'::text) OR ((kind = 'transactional'::text) AND (archived_at IS NULL)))),
  CONSTRAINT streams_kind_check CHECK ((kind = ANY (ARRAY['transactional'::text, 'broadcast'::text]))),
  CONSTRAINT streams_name_check CHECK (((name ~ '^[a-z0-9]+(-[a-z0-9]+)*$'::text) AND (length(name) <= 64)))
);

CREATE TABLE suppression_strikes (
  account_id bigint NOT NULL,
  address text NOT NULL,
  day date NOT NULL,
  CONSTRAINT suppression_strikes_pkey PRIMARY KEY (account_id, address, day)
);

CREATE TABLE suppressions (
  account_id bigint NOT NULL,
  address text NOT NULL,
  reason text NOT NULL,
  message_id uuid,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT suppressions_pkey PRIMARY KEY (account_id, address)
);

CREATE TABLE unsubscribes (
  account_id bigint NOT NULL,
  address text NOT NULL,
  stream text NOT NULL,
  origin text NOT NULL,
  message_id uuid,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT unsubscribes_pkey PRIMARY KEY (account_id, address, stream)
);

CREATE TABLE users (
  id uuid NOT NULL,
  email text NOT NULL,
  name text NOT NULL,
  password text NOT NULL,
  operator boolean NOT NULL DEFAULT false,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT users_pkey PRIMARY KEY (id),
  CONSTRAINT users_email_key UNIQUE (email)
);

CREATE TABLE webhook_deliveries (
  account_id bigint NOT NULL,
  endpoint_id uuid NOT NULL,
  id uuid NOT NULL,
  message_id uuid NOT NULL,
  event_id uuid NOT NULL,
  event_type text NOT NULL,
  state text NOT NULL DEFAULT 'pending'::text,
  attempts integer NOT NULL DEFAULT 0,
  attempted_at timestamp with time zone,
  status integer,
  response text,
  response_truncated boolean NOT NULL DEFAULT false,
  error text,
  duration_ms integer,
  finished_at timestamp with time zone,
  CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (account_id, endpoint_id, id),
  CONSTRAINT webhook_deliveries_check CHECK (((state = 'pending'::text) = (finished_at IS NULL))),
  CONSTRAINT webhook_deliveries_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'delivered'::text, 'abandoned'::text])))
) PARTITION BY RANGE (id);

CREATE TABLE webhook_due (
  account_id bigint NOT NULL,
  endpoint_id uuid NOT NULL,
  delivery_id uuid NOT NULL,
  message_id uuid NOT NULL,
  event_id uuid NOT NULL,
  due_at timestamp with time zone NOT NULL,
  attempts integer NOT NULL DEFAULT 0,
  CONSTRAINT webhook_due_pkey PRIMARY KEY (account_id, endpoint_id, delivery_id)
);

CREATE TABLE webhook_endpoints (
  account_id bigint NOT NULL,
  id uuid NOT NULL,
  url text NOT NULL,
  event_types text[],
  fifo boolean NOT NULL DEFAULT false,
  secret bytea NOT NULL,
  previous_secret bytea,
  previous_until timestamp with time zone,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  disabled_at timestamp with time zone,
  disabled_reason text,
  failures integer NOT NULL DEFAULT 0,
  failing_since timestamp with time zone,
  paused_until timestamp with time zone,
  lease uuid,
  leased_until timestamp with time zone,
  CONSTRAINT webhook_endpoints_pkey PRIMARY KEY (account_id, id),
  CONSTRAINT webhook_endpoints_check CHECK (((disabled_at IS NULL) = (disabled_reason IS NULL))),
  CONSTRAINT webhook_endpoints_check1 CHECK (((previous_secret IS NULL) = (previous_until IS NULL))),
  CONSTRAINT webhook_endpoints_disabled_reason_check CHECK ((disabled_reason = ANY (ARRAY['owner'::text, 'gone'::text, 'failing'::text])))
) WITH (fillfactor=50);

ALTER TABLE account_retention ADD CONSTRAINT account_retention_account_id_fkey
  FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE;

ALTER TABLE account_template_versions ADD CONSTRAINT account_template_versions_account_id_slug_fkey
  FOREIGN KEY (account_id, slug) REFERENCES account_templates(account_id, slug) ON DELETE CASCADE;

ALTER TABLE account_templates ADD CONSTRAINT account_templates_account_id_fkey
  FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE;

ALTER TABLE account_templates ADD CONSTRAINT account_templates_account_id_slug_published_version_fkey
  FOREIGN KEY (account_id, slug, published_version) REFERENCES account_template_versions(account_id, slug, version);

ALTER TABLE address_verifications ADD CONSTRAINT address_verifications_account_id_address_fkey
  FOREIGN KEY (account_id, address) REFERENCES identities(account_id, value) ON DELETE CASCADE;

ALTER TABLE api_keys ADD CONSTRAINT api_keys_account_id_fkey
  FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE;

ALTER TABLE authenticator_apps ADD CONSTRAINT authenticator_apps_user_id_fkey
  FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE branding ADD CONSTRAINT branding_account_id_fkey
  FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE;

ALTER TABLE domains ADD CONSTRAINT domains_account_id_domain_fkey
  FOREIGN KEY (account_id, domain) REFERENCES identities(account_id, value) ON DELETE CASCADE;

ALTER TABLE identities ADD CONSTRAINT identities_account_id_fkey
  FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE;

ALTER TABLE key_usage ADD CONSTRAINT key_usage_account_id_key_id_fkey
  FOREIGN KEY (account_id, key_id) REFERENCES api_keys(account_id, id) ON DELETE CASCADE;

ALTER TABLE logos ADD CONSTRAINT logos_account_id_fkey
  FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE;

ALTER TABLE members ADD CONSTRAINT members_user_id_fkey
  FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE message_hours ADD CONSTRAINT message_hours_account_id_fkey
  FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE;

ALTER TABLE notices ADD CONSTRAINT notices_user_id_fkey
  FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE passkeys ADD CONSTRAINT passkeys_user_id_fkey
  FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE recipient_hours ADD CONSTRAINT recipient_hours_account_id_fkey
  FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE;

ALTER TABLE recovery_codes ADD CONSTRAINT recovery_codes_user_id_fkey
  FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE sessions ADD CONSTRAINT sessions_user_id_fkey
  FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE sign_in_places ADD CONSTRAINT sign_in_places_user_id_fkey
  FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE streams ADD CONSTRAINT streams_account_id_fkey
  FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE;

ALTER TABLE suppressions ADD CONSTRAINT suppressions_account_id_fkey
  FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE;

ALTER TABLE unsubscribes ADD CONSTRAINT unsubscribes_account_id_fkey
  FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE;

ALTER TABLE webhook_endpoints ADD CONSTRAINT webhook_endpoints_account_id_fkey
  FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE;

CREATE INDEX approval_links_message ON public.approval_links USING btree (account_id, message_id);

CREATE INDEX approvals_waiting ON public.approvals USING btree (account_id, expires_at) WHERE (state = 'waiting'::text);

CREATE INDEX audit_at ON public.audit USING btree (at);

CREATE INDEX delivery_attempts_at ON public.delivery_attempts USING btree (at);

CREATE INDEX due_messages_captured ON public.due_messages USING btree (account_id, due_at) WHERE ((state = 'ready'::due_state) AND (class = 3));

CREATE INDEX due_messages_in_hand ON public.due_messages USING btree (account_id) WHERE (state = 'in hand'::due_state);

CREATE INDEX due_messages_ready ON public.due_messages USING btree (account_id, class, due_at) WHERE (state = 'ready'::due_state);

CREATE INDEX due_messages_set_aside ON public.due_messages USING btree (account_id, message_id) WHERE (state = 'set aside'::due_state);

CREATE INDEX due_messages_waiting ON public.due_messages USING btree (due_at) WHERE (state = 'waiting'::due_state);

CREATE INDEX events_hook_at ON public.events USING btree (account_id, at) WHERE (sequence IS NOT NULL);

CREATE INDEX events_outcomes ON public.events USING btree (account_id, kind, message_id) WHERE (kind = ANY (ARRAY['clicked'::text, 'bounced'::text, 'complained'::text]));

CREATE INDEX idempotency_keys_created_at ON public.idempotency_keys USING btree (created_at);

CREATE INDEX members_user ON public.members USING btree (user_id);

CREATE INDEX messages_scheduled_at ON public.messages USING btree (scheduled_at) WHERE ((scheduled_at IS NOT NULL) AND (cancelled_at IS NULL));

CREATE INDEX notices_due_at ON public.notices USING btree (due_at);

CREATE INDEX passkeys_user ON public.passkeys USING btree (user_id);

CREATE INDEX return_path_probes_batch ON public.return_path_probes USING btree (batch);

CREATE INDEX sandbox_acts_due_at ON public.sandbox_acts USING btree (due_at);

CREATE INDEX sandbox_mails_account ON public.sandbox_mails USING btree (account_id, id);

CREATE INDEX sessions_user ON public.sessions USING btree (user_id);

CREATE INDEX webhook_due_due_at ON public.webhook_due USING btree (account_id, endpoint_id, due_at);

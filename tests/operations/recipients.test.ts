// One person's data: exported completely, and erased from every table. What they unsubscribed from
// stays unsubscribed.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createKey } from '../../src/accounts/keys.ts';
import { Sandmartin } from '../../src/client/sandmartin.ts';
import { readUuid, uuidToBytes } from '../../src/ids.ts';
import { systemClock } from '../../src/process/clock.ts';
import { createLog } from '../../src/process/log.ts';
import { disableLink, enableLink, listDisabled } from '../../src/tracking/disabled-links.ts';
import { openLinkSwitch } from '../../src/tracking/link-switch.ts';
import { anEmail, startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

const ADA = 'ada.lovelace@person.example';
const BOB = 'bob@person.example';
let service: TestService;
let key: string;
let id: number;

beforeAll(async () => {
  service = await startTestService({ WEBHOOK_ALLOW: '127.0.0.0/8' });
  ({ key, id } = await service.account({ scopes: ['email:send', 'email:read', 'admin'] }));
});
afterAll(() => service.stop());

const api = () => new Sandmartin({ baseUrl: service.url, apiKey: key, retries: 0 });
const story = async (message: string) => (await service.get(key, `/v1/messages/${message}`)).body;

async function sendTo(...to: string[]): Promise<string> {
  const { body } = await service.send(
    key,
    anEmail({ to, subject: `For ${to[0]}`, html: `<p>Dear ${to[0]}</p>` }),
  );
  await until(async () => (await story(body.id)).status === 'delivered');
  return body.id;
}

/** Every column whose type can hold an address, as `table.column`. */
async function columns(): Promise<string[]> {
  const rows = await service.database.query<{ name: string }>(
    `SELECT c.relname || '.' || a.attname AS name
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
       AND a.attnum > 0 AND NOT a.attisdropped
       AND a.atttypid::regtype::text ~ '^(text|json|jsonb|bytea|character varying|name|citext)'
     ORDER BY 1`,
  );
  return rows.map(({ name }) => name);
}

/** Columns in which a text stands, in any form: as text, within a list or JSON, as bytes. */
async function columnsWith(text: string): Promise<string[]> {
  const found: string[] = [];
  for (const name of await columns()) {
    const [table, column] = name.split('.');
    const [row] = await service.database.query<{ held: boolean }>(
      `SELECT count(*) > 0 AS held FROM ${table}
       WHERE position(lower($1) IN lower("${column}"::text)) > 0 OR position($2 IN "${column}"::text) > 0`,
      [text, Buffer.from(text).toString('hex')],
    );
    if (row!.held) found.push(name);
  }
  return found;
}

const tablesWith = async (text: string) => [
  ...new Set((await columnsWith(text)).map((name) => name.split('.')[0]!)),
];

/** Where a recipient's address may stand: the test puts it into each of them, and erases it. */
const HOLD_AN_ADDRESS = [
  'audit.after',
  'audit.before',
  'audit.request_id',
  'audit.target',
  'contents.attachments',
  'contents.head',
  'contents.html',
  'contents.text',
  'delivery_attempts.recipients',
  'disabled_links.url',
  'events.detail',
  'events.recipients',
  'feedback_mails.raw',
  'feedback_mails.recipient',
  'feedback_mails.subject',
  'idempotency_keys.key',
  'messages.last_delay',
  'messages.recipients',
  'messages.subject',
  'messages.tags',
  'receiver_days.counts',
  'recipient_hours.counts',
  'sandbox_acts.recipients',
  'sandbox_mails.codes',
  'sandbox_mails.links',
  'sandbox_mails.raw',
  'sandbox_mails.recipients',
  'sandbox_mails.subject',
  'suppression_strikes.address',
  'suppressions.address',
  'unsubscribes.address',
  'webhook_deliveries.response',
];

/** Where none can stand, or not a recipient's, and why: a table, or a column of one. */
const HOLD_NONE: Record<string, string[]> = {
  'what the account wrote itself: its texts, senders and rules': [
    ...['account_template_versions', 'account_templates', 'accounts', 'api_keys', 'branding'],
    ...['address_verifications', 'domains', 'identities', 'logos', 'streams', 'webhook_endpoints'],
    'messages.from_email',
    'messages.stream',
    'messages.template',
    'sandbox_mails.header_from',
    'unsubscribes.stream',
  ],
  'people who use the dashboard: they are removed from the team': [
    ...['answered_challenges', 'authenticator_apps', 'invitations', 'members', 'notices'],
    ...['passkeys', 'recovery_codes', 'sessions', 'sign_in_places', 'sign_in_tries', 'users'],
    'audit.actor_id',
    'audit.actor_name',
  ],
  'the installation and its operators': [
    ...['delivery_processes', 'disabled_link_hosts', 'installation', 'previous_secrets'],
    ...['processes', 'relay_url', 'relay_usage', 'relays', 'return_path_probes'],
    ...['schema_functions', 'schema_migrations'],
    'disabled_links.reason',
  ],
  'an email that is still due is refused first: nothing is erased': ['due_messages'],
  'our own words, hashes, ids and names of servers': [
    ...['approval_links', 'approvals', 'message_hours', 'provider_nonces'],
    'audit.action',
    'audit.actor_kind',
    'audit.door',
    'delivery_attempts.server',
    'events.kind',
    'events.relay_message_id',
    'feedback_mails.envelope_from',
    'feedback_mails.feedback_type',
    'feedback_mails.fingerprint',
    'feedback_mails.kind',
    'feedback_mails.network',
    'feedback_mails.why',
    'idempotency_keys.request_hash',
    'messages.door',
    'messages.relay_message_id',
    'sandbox_acts.script',
    'sandbox_mails.door',
    'sandbox_mails.envelope_from',
    'sandbox_mails.envelope_id',
    'suppressions.reason',
    'unsubscribes.origin',
    'webhook_deliveries.error',
    'webhook_deliveries.event_type',
    'webhook_deliveries.state',
  ],
};

it('every column is known to hold a recipient’s address, or to hold none', async () => {
  const none = Object.values(HOLD_NONE).flat();
  const all = await columns();
  const covers = (rule: string, name: string) => name === rule || name.startsWith(`${rule}.`);
  const decided = [...HOLD_AN_ADDRESS, ...none];
  const undecided = all.filter((name) => !decided.some((rule) => covers(rule, name)));
  expect(undecided, 'fill them in this test and erase them, or say why they hold none').toEqual([]);
  expect(decided.filter((rule) => !all.some((name) => covers(rule, name)))).toEqual([]);
});

/** Something in every place that may name Ada, as it gets there or as it would be stored. */
async function fillEverything(): Promise<{ alone: string; together: string }> {
  const asked = await service.send(
    key,
    anEmail({
      to: [ADA],
      subject: `For ${ADA}, code 481516`,
      html: `<p>Dear ${ADA}, <a href="https://a.example/?u=${ADA}">your page</a></p>`,
      text: `Dear ${ADA}`,
      tags: [`to-${ADA}`],
      headers: { 'X-Person': ADA },
      attachments: [
        {
          filename: 'ada.txt',
          content_type: 'text/plain',
          content_base64: Buffer.from(`About ${ADA}`).toString('base64'),
        },
      ],
    }),
    { 'idempotency-key': `welcome-${ADA}` },
  );
  expect(asked.status).toBe(202);
  const alone = asked.body.id;
  const together = await sendTo(ADA.toUpperCase().replace('PERSON.EXAMPLE', 'person.example'), BOB);
  await until(async () => (await story(alone)).status === 'delivered');
  await api().suppressions.put({ address: ADA });
  const { database } = service;
  const put = (change: string) => database.query(change, [id, ADA]);
  const ofAda = `FROM messages WHERE account_id = $1 AND recipients = ARRAY[$2]`;
  await put(
    `INSERT INTO events (account_id, message_id, id, kind, at, recipients, detail)
     SELECT account_id, id, gen_random_uuid(), 'clicked', now(), ARRAY[$2], '{"url": "https://a.example/?u=ada", "user_agent": "Ada’s phone", "ip_address": "192.0.2.7", "machine": false}' ${ofAda}`,
  );
  await put(
    `INSERT INTO delivery_attempts (account_id, message_id, id, attempt, server, recipients)
     SELECT account_id, id, gen_random_uuid(), 1, 'mx.example', jsonb_build_array(jsonb_build_object(
       'recipient', $2::text, 'result', 'deferred', 'reply', '451 <' || $2 || '> later')) ${ofAda}`,
  );
  await put(
    `UPDATE messages SET last_delay = jsonb_build_object('at', now(), 'recipients', ARRAY[$2::text], 'smtp_response', '451 ' || $2)
     WHERE account_id = $1 AND recipients = ARRAY[$2]`,
  );
  await put(
    `INSERT INTO feedback_mails (id, fingerprint, kind, account_id, message_id, envelope_from, recipient, subject, raw)
     SELECT gen_random_uuid(), 'f', 'auto-reply', account_id, id, '', $2, 'Away: ' || $2, convert_to('I am ' || $2, 'UTF8') ${ofAda}`,
  );
  await put(
    `INSERT INTO disabled_links (account_id, message_id, url, reason)
     SELECT account_id, id, 'https://a.example/?u=' || $2, 'phishing' ${ofAda}`,
  );
  await put(
    `INSERT INTO sandbox_acts (id, mail_id, script, recipients, due_at)
     SELECT gen_random_uuid(), id, 'open', ARRAY[$2], now() + interval '1 day'
     FROM sandbox_mails WHERE account_id = $1 AND recipients = ARRAY[$2] LIMIT 1`,
  );
  await put(
    `UPDATE sandbox_mails SET codes = codes || $2::text WHERE account_id = $1 AND recipients = ARRAY[$2]`,
  );
  await put(`INSERT INTO suppression_strikes VALUES ($1, $2, '2026-11-16')`);
  await put(`INSERT INTO unsubscribes VALUES ($1, $2, 'news', 'link')`);
  await put(
    `INSERT INTO receiver_days VALUES ($1, now(), jsonb_build_object('said', '550 no such user <' || $2::text || '>'), now())`,
  );
  await put(
    `INSERT INTO recipient_hours VALUES ($1, now(), jsonb_build_object('tag', jsonb_build_object('to ' || $2::text, 1)), now())`,
  );
  await put(
    `INSERT INTO audit (account_id, id, actor_kind, door, action, target, before, after, request_id)
     VALUES ($1, gen_random_uuid(), 'command', 'cli', 'add_suppressions', $2,
             jsonb_build_object('was', $2::text), jsonb_build_object('is', $2::text), 'about ' || $2)`,
  );
  // A choice is an event without a message, which endpoints are told about too.
  await put(
    `INSERT INTO events (account_id, message_id, id, kind, at, recipients, detail)
     SELECT $1, id, id, 'subscription', now(), ARRAY[$2], '{"stream": "news", "suppressing": true}'
     FROM uuid_at(now()) AS id`,
  );
  await put(
    `INSERT INTO webhook_deliveries (account_id, endpoint_id, id, message_id, event_id, event_type, status, response)
     SELECT account_id, gen_random_uuid(), uuid_at(now()), message_id, id, 'delivery', 500, 'cannot find ' || $2::text
     FROM events WHERE account_id = $1 AND recipients = ARRAY[$2] AND kind IN ('delivered', 'subscription')`,
  );
  return { alone, together };
}

it('everything about a person is given out, and after erasing no table knows them', async () => {
  const others = await sendTo(BOB);
  const { alone, together } = await fillEverything();
  // Someone whose address ends with Ada’s is someone else.
  await service.database.query(
    `INSERT INTO audit (account_id, id, actor_kind, door, action, target, request_id)
     VALUES ($1, gen_random_uuid(), 'command', 'cli', 'put_suppression', 'maria.' || $2::text, '')`,
    [id, ADA],
  );
  expect(await columnsWith(ADA)).toEqual(HOLD_AN_ADDRESS);

  const held = await api().recipients.export({ address: ADA });
  expect(held.data.map(({ sm_mail_id }) => sm_mail_id).sort()).toEqual([alone, together].sort());
  expect(held.suppressions).toMatchObject([
    { address: ADA, reason: 'manual' },
    { address: ADA, reason: 'unsubscribe', stream: 'news' },
  ]);
  const told = held.data.find(({ sm_mail_id }) => sm_mail_id === alone)!;
  expect(told).toMatchObject({
    subject: `For ${ADA}, code 481516`,
    tags: [`to-${ADA}`],
    html: expect.stringContaining(`Dear ${ADA}`),
    text: `Dear ${ADA}`,
    headers: [{ name: 'X-Person', value: ADA }],
    attachments: [
      { index: 0, filename: 'ada.txt', content_type: 'text/plain', size: 6 + ADA.length },
    ],
    attempts: [{ server: 'mx.example', recipients: [{ reply: `451 <${ADA}> later` }] }],
    delay: { recipients: [ADA] },
    pending: null,
    webhook_deliveries: [{ status: 500, response: `cannot find ${ADA}` }],
    reports: [{ kind: 'auto-reply', subject: `Away: ${ADA}` }],
    disabled_links: [{ url: `https://a.example/?u=${ADA}`, reason: 'phishing' }],
  });
  expect(told.events.map(({ type }) => type)).toEqual(['sent', 'delivered', 'clicked']);
  expect(held.person).toMatchObject({
    // By hand, and by the link of a stream.
    subscriptions: [
      { webhook_deliveries: [{ response: `cannot find ${ADA}` }] },
      { detail: { stream: 'news' }, webhook_deliveries: [{ response: `cannot find ${ADA}` }] },
    ],
    strikes: ['2026-11-16'],
    statistics: [{ words: `550 no such user <${ADA}>` }, { words: `to ${ADA}` }],
    idempotency_keys: [`welcome-${ADA}`],
  });
  expect(held.person!.captured!.map(({ message_id }) => message_id).sort()).toEqual(
    [alone, together].sort(),
  );
  const captured = held.person!.captured!.find(({ message_id }) => message_id === alone);
  expect(captured!.links).toMatchObject([{ url: `https://a.example/?u=${ADA}` }]);
  expect(held.person!.audit!.map(({ action, target }) => [action, target])).toEqual(
    expect.arrayContaining([
      ['add_suppressions', ADA],
      ['add_suppression', ADA],
    ]),
  );
  expect(JSON.stringify(held.person!.audit)).not.toContain(`maria.${ADA}`);
  // The files that are only named are there.
  const file = await api().messages.attachment({ sm_mail_id: alone, index: 0 });
  expect(Buffer.from(file.content_base64, 'base64').toString()).toBe(`About ${ADA}`);
  await service.database.query(`DELETE FROM audit WHERE account_id = $1 AND target ~ '^maria'`, [
    id,
  ]);

  const erased = await api().recipients.erase({ address: ADA });
  expect(erased).toEqual({
    messages: 2,
    contents: 2,
    events: expect.any(Number),
    attempts: 1,
    captured: 3,
    reports: 1,
    webhook_answers: 3,
    statistics: 2,
    idempotency_keys: 1,
    disabled_links: 1,
    strikes: 1,
    suppressions: 2,
    audit: 2,
  });
  expect(erased.events).toBeGreaterThanOrEqual(6);
  expect(await columnsWith(ADA)).toEqual([]);
  expect(await columnsWith('Ada’s phone')).toEqual([]);

  // What happened is still told, about nobody; what others were sent alone is untouched.
  expect((await story(alone)).events.map(({ type }: { type: string }) => type)).toEqual([
    'sent',
    'delivered',
    'clicked',
  ]);
  const shared = (await story(together)).events.find(
    ({ type }: { type: string }) => type === 'sent',
  );
  expect(shared.recipients.filter((it: string) => !it.endsWith('@erased.invalid'))).toEqual([BOB]);
  expect((await api().messages.content({ sm_mail_id: others })).to).toEqual([BOB]);
  expect(await tablesWith(BOB)).toContain('contents');
  const nothing = await api().recipients.export({ address: ADA });
  expect(nothing.data).toEqual([]);
  expect(nothing.person).toEqual({
    ...{ subscriptions: [], strikes: [], statistics: [], idempotency_keys: [] },
    ...{ captured: [], audit: [] },
  });
});

it('a link that was switched off stays off after its URL was erased', async () => {
  const url = 'https://evil.example/?u=carol';
  const carol = await sendTo('carol@person.example');
  const links = openLinkSwitch({ database: service.database, log: createLog('silent') });
  await disableLink(service.database, { messageId: carol, url }, 'phishing');
  await api().recipients.erase({ address: 'carol@person.example' });
  expect(await columnsWith(url)).toEqual([]);
  const messageId = uuidToBytes(readUuid('msg_', carol)!);
  expect(await links.leads({ accountId: id, messageId, url })).toBe(false);
  expect(await links.leads({ accountId: id, messageId, url: 'https://a.example/' })).toBe(true);
  const [row] = (await listDisabled(service.database)).filter((it) => it.messageId === carol);
  await enableLink(service.database, { messageId: carol, url: row!.url });
  const later = openLinkSwitch({ database: service.database, log: createLog('silent') });
  expect(await later.leads({ accountId: id, messageId, url })).toBe(true);
});

it('an export says what its caller may not see', async () => {
  const { key: reader } = await createKey(service.database, systemClock, {
    accountId: id,
    scopes: ['messages:read'],
  });
  const told = (await service.get(reader, `/v1/recipients/${BOB}?limit=1`)).body;
  expect(told.data).toMatchObject([{ webhook_deliveries: null }]);
  expect(told.person).toMatchObject({ captured: null, audit: null });
  const next = await service.get(reader, `/v1/recipients/${BOB}?limit=1&cursor=${told.next}`);
  expect(next.body.person).toBeNull();
});

it('who wanted no more email gets none after being erased, until someone allows it again', async () => {
  expect(await api().suppressions.get({ address: ADA })).toMatchObject({
    reason: 'manual',
    address: expect.stringMatching(/^erased:/),
  });
  const { body } = await service.send(key, anEmail({ to: [ADA] }));
  const { events } = await until(async () => {
    const told = await story(body.id);
    return told.status === 'bounced' && told;
  });
  expect(events).toMatchObject([{ type: 'bounced', bounce_type: 'suppressed' }]);
  await api().suppressions.remove({ address: ADA });
  await sendTo(ADA);
  await api().recipients.erase({ address: ADA });
  expect(await tablesWith(ADA)).toEqual([]);
});

it('an email that still has to go out keeps everything as it is', async () => {
  const scheduled_at = new Date(Date.now() + 3_600_000).toISOString();
  const { body } = await service.send(key, anEmail({ to: ['late@person.example'], scheduled_at }));
  await expect(api().recipients.erase({ address: 'late@person.example' })).rejects.toMatchObject({
    status: 409,
    message: expect.stringContaining(body.id),
  });
  expect(await tablesWith('late@person.example')).toContain('contents');
  await api().messages.cancel({ sm_mail_id: body.id });
  expect(await api().recipients.erase({ address: 'late@person.example' })).toMatchObject({
    messages: 1,
  });
});

it('another account’s emails to the same person are its own', async () => {
  const other = await service.account();
  const { body } = await service.send(other.key, anEmail({ to: [BOB] }));
  await api().recipients.erase({ address: BOB });
  const told = await service.get(other.key, `/v1/messages/${body.id}`);
  expect(told.status).toBe(200);
  expect(await tablesWith(BOB)).toContain('contents');
});

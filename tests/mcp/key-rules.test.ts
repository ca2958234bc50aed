// At least forty attempts to get around each rule of a key: by other spellings, fields, headers,
// doors and operations. None gets through.
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { AgentLimits } from '../../src/accounts/agent-limits.ts';
import { createKey } from '../../src/accounts/keys.ts';
import { strangeLink } from '../../src/accounts/link-hosts.ts';
import { ALL_SCOPES, type Scope } from '../../src/accounts/scopes.ts';
import { readUuid, showUuid } from '../../src/ids.ts';
import { systemClock } from '../../src/process/clock.ts';
import { atOnce } from '../../src/process/in-turns.ts';
import { PERMISSIVE, postBatch } from '../sending/batch-support.ts';
import { hand, logIn } from '../submission/client.ts';
import {
  anEmail,
  request,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';
import { until } from '../support/until.ts';
import { callTool } from './support.ts';

let service: TestService;
let account: TestAccount;
beforeAll(async () => {
  service = await startTestService({ SMTP_PORT: '0' });
  account = await service.account({ identities: ['example.com', 'second.example'] });
});
afterAll(() => service.stop());

const LEAST_TRIES = 40;
type Fields = Record<string, unknown>;

async function keyWith(
  limits: Partial<AgentLimits>,
  scopes: readonly Scope[] = ['email:send', 'email:read'],
): Promise<{ id: string; key: string }> {
  return await createKey(service.database, systemClock, {
    accountId: account.id,
    ...{ scopes, limits },
  });
}

const everyRecipient = async (): Promise<string> =>
  JSON.stringify(
    await service.database.query('SELECT recipients FROM messages WHERE account_id = $1', [
      account.id,
    ]),
  );

/** One email by each door that takes emails; the statuses. */
async function byEveryDoor(key: string, email: Fields): Promise<number[]> {
  const { to, ...others } = email;
  const byTool = async (name: string, wanted: Fields) => {
    const { isError, content } = await callTool(service, key, name, wanted);
    return { status: isError ? content.status : 202 };
  };
  const answers = await Promise.all([
    service.send(key, email),
    postBatch(service, key, [email]),
    postBatch(service, key, [email], PERMISSIVE),
    byResend(key, email),
    byTool('send_email', email),
    byTool('send_batch', { ...others, recipients: [{ to }] }),
  ]);
  return answers.map(({ status }) => status);
}

/** The same in the fields of Resend's API, which says 422 where we say 400. */
async function byResend(key: string, email: Fields): Promise<{ status: number }> {
  const { from_email: from, template, variables, attachments, tags, ...same } = email;
  const { status } = await request(`${service.url}/emails`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{
        from,
        ...same,
        tags: (tags as string[] | undefined)?.map((name) => ({ name, value: name })),
      },
      template: template && { id: template, variables },
      attachments: (attachments as Fields[] | undefined)?.map(({ content_base64, ...file }) => ({
        ...{ ...file, content: content_base64 },
      })),
    }),
  });
  return { status: status === 422 ? 400 : status };
}

async function refusedEverywhere(
  key: string,
  tries: readonly Fields[],
  email: Fields = anEmail(),
): Promise<void> {
  expect(new Set(tries.map((it) => JSON.stringify(it))).size).toBeGreaterThanOrEqual(LEAST_TRIES);
  for (const attempt of tries) {
    const statuses = await byEveryDoor(key, { ...email, ...attempt });
    const through = statuses.filter((status) => status !== 400 && status !== 403);
    expect([attempt, through]).toEqual([attempt, []]);
  }
}

/** Names as they look alike, and addresses near the right one. */
const ODD_NAMES = [
  ...['Evil', 'acme', 'ACME', 'Acme.', 'Acme Inc', 'Acme, Inc', 'A cme', 'Acme 2', 'Аcme', 'Acmé'],
  ...[
    'Acme\u200b',
    'Ac\u00adme',
    '\u202eemcA',
    'Acme via Evil',
    'Acme Support',
    'hello@example.com',
  ],
  ...[
    'Acme (CEO)',
    'Acme <evil>',
    '"Acme"',
    'Acme\u00a0',
    'Ａcme',
    'Acme|Acme',
    'https://evil.com',
  ],
];

const HEADERS = [
  ...[
    'Disposition-Notification-To',
    'Return-Receipt-To',
    'X-Confirm-Reading-To',
    'List-Unsubscribe',
    'List-Help',
    'List-Post',
  ],
  ...[
    'Comments',
    'Keywords',
    'Errors-To',
    'Importance',
    'X-Priority',
    'Priority',
    'Organization',
    'X-Mailer',
    'Reply-By',
    'Supersedes',
  ],
  ...[
    'Auto-Submitted',
    'Precedence',
    'X-Face',
    'Face',
    'Archived-At',
    'Expires',
    'Sensitivity',
    'X-Report-Abuse',
    'Feedback-Id',
  ],
  ...[
    'X-Anything',
    'Thread-Topic',
    'X-Note',
    'X-Spam-Flag',
    'List-Archive',
    'List-Id',
    'List-Owner',
    'Original-Recipient',
  ],
  ...[
    'X-Envelope-To',
    'Bounces-To',
    'X-Loop',
    'Approved',
    'Encrypted',
    'Language',
    'X-Auto-Response-Suppress',
    'Jabber-ID',
  ],
];

it('templates_only: no header, sender, name, answer or word of its own', async () => {
  const { key } = await keyWith({ templatesOnly: true });
  const good = {
    ...{ from_email: 'no-reply@example.com', to: ['ada@example.net'], template: 'welcome' },
    variables: { action_url: 'https://example.com/start', name: 'Ada' },
  };
  expect(new Set(await byEveryDoor(key, good))).not.toContain(403);
  const bare = { template: undefined, variables: undefined };
  await refusedEverywhere(
    key,
    [
      ...HEADERS.map((name) => ({ headers: { [name]: 'evil@evil.example' } })),
      ...['ceo', 'support', 'billing', 'security', 'admin'].map((who) => ({
        from_email: `${who}@example.com`,
      })),
      { from_email: 'The CEO <no-reply@example.com>' },
      { from_email: '"no-reply@example.com" <ceo@example.com>' },
      ...['evil@evil.example', 'a@sub.example.com', 'x@example.com.evil.example'].map(
        (reply_to) => ({ reply_to }),
      ),
      ...['subject', 'text', 'html'].map((field) => ({ [field]: 'psst' })),
      { ...bare, subject: 'psst', text: 'psst' },
      { ...bare, html: '<p>psst</p>', subject: 'psst' },
      { template: '', subject: 'psst', text: 'psst' },
      file('a.txt', 'text/plain', 'psst'),
    ],
    good,
  );
}, 240_000);

it('allowed_recipients', async () => {
  const { key } = await keyWith({ allowedRecipients: ['friends.example'] });
  const to = ['ok@friends.example'];
  expect(new Set(await byEveryDoor(key, anEmail({ to })))).not.toContain(403);
  const others = [
    ...['a%evil.com', 'evil.com!a', 'a%b.c%evil.com', '%', '!', 'a!b!c', 'evil.com!a%b', 'x%y'].map(
      (local) => `${local}@friends.example`,
    ),
    ...['a@friends.example.evil.com', 'a@sub.friends.example', 'a@evil.com'],
    ...['friends.example@evil.com', 'a@friends.example.', 'a@ friends.example'],
    ...['"a@friends.example" <b@evil.com>', 'friends.example <b@evil.com>', 'a@[192.0.2.1]'],
    ...['"x y"@evil.com', 'a@friends-example.com', 'a@fríends.example'],
  ];
  await refusedEverywhere(key, [
    ...others.map((address) => ({ to: [address] })),
    ...others.map((address, n) => ({ to, [n % 2 ? 'cc' : 'bcc']: [address] })),
  ]);
}, 240_000);

it('senders', async () => {
  const { key } = await keyWith({ senders: ['Acme <hello@example.com>'] });
  expect(await byEveryDoor(key, anEmail({ from_email: 'hello@example.com' }))).not.toContain(403);
  await refusedEverywhere(key, [
    ...ODD_NAMES.map((name) => ({
      from_email: `"${name.replaceAll('"', '')}x" <hello@example.com>`,
    })),
    ...[
      ...[
        'other@example.com',
        'hello+1@example.com',
        'hello.@example.com',
        'hello@sub.example.com',
      ],
      ...['hello@second.example', 'Acme <hello@second.example>', 'hello@example.com.evil.com'],
      ...[
        'Acme <hello@examp1e.com>',
        'hello@еxample.com',
        'hello@example.org',
        'hell0@example.com',
      ],
      ...['hello@example.com, evil@example.com', 'hello@example.com <evil@example.com>'],
      ...['"hello@example.com" <evil@example.com>', 'Acme <hello@example.com> <evil@example.com>'],
      ...['hello@example.com\r\nSender: evil@example.com', 'hello @example.com', '@example.com'],
      ...['evil%hello@example.com', 'evil!hello@example.com', 'hello@example.com@second.example'],
    ].map((from_email) => ({ from_email })),
    ...['From', 'from', 'Sender', 'Return-Path', 'Resent-From'].map((name) => ({
      from_email: 'evil@example.com',
      headers: { [name]: 'hello@example.com' },
    })),
  ]);
}, 240_000);

it('reply_to', async () => {
  const { key } = await keyWith({ replyTo: ['help.example', 'boss@partner.example'] });
  for (const reply_to of ['a@help.example', 'Boss <boss@partner.example>', 'x@example.com']) {
    expect([reply_to, await byEveryDoor(key, anEmail({ reply_to }))]).toEqual([
      reply_to,
      expect.not.arrayContaining([403]),
    ]);
  }
  await refusedEverywhere(key, [
    ...[
      ...['evil@evil.example', 'a@sub.help.example', 'a@help.example.evil.com', 'a@xhelp.example'],
      ...['help.example@evil.example', 'other@partner.example', 'boss+1@partner.example'],
      ...['Boss <x@partner.example>', '"boss@partner.example" <x@evil.example>', 'a@hеlp.example'],
      ...['a@help.example, b@evil.example', 'a%evil.com@help.example', 'evil.com!a@help.example'],
      ...['a%evil.com@example.com', 'a@help.example\r\nBcc: b@evil.example', 'a@[192.0.2.1]'],
      ...['boss@partner.example.', 'boss@partner-example.com', 'a@sub.example.com', 'a@help'],
      ...[
        'bоss@partner.example',
        'a@help.example <b@evil.example>',
        '"a b"@evil.example',
        'a@b@c.d',
      ],
    ].map((reply_to) => ({ reply_to })),
    ...[
      ...['Mail-Reply-To', 'Mail-Followup-To', 'Followup-To', 'Disposition-Notification-To'],
      ...['Return-Receipt-To', 'X-Confirm-Reading-To', 'Errors-To', 'List-Post', 'List-Owner'],
      ...['List-Unsubscribe', 'X-Reply-To', 'Resent-Reply-To', 'Reply-To', 'reply-to', 'REPLY-TO'],
    ].flatMap((name) => [
      { headers: { [name]: 'evil@evil.example' } },
      { headers: { [name]: '<mailto:Evil@evil.example>, <mailto:a@help.example>' } },
    ]),
  ]);
}, 240_000);

it('no_bcc', async () => {
  const { key } = await keyWith({ noBcc: true });
  const hidden = [
    ...['evil@evil.example', 'Evil <evil@evil.example>', 'ada@example.net', 'a@example.com'],
    ...['EVIL@EVIL.EXAMPLE', 'evil+1@evil.example', '"Evil" <evil@evil.example>', 'ë@evil.example'],
    ...['bounce@simulator.test', 'evil@bücher.example'],
  ];
  await refusedEverywhere(key, [
    ...hidden.map((address) => ({ bcc: [address] })),
    ...hidden.slice(0, 4).map((address) => ({ bcc: [address], cc: [address] })),
    { bcc: hidden.slice(0, 3) },
    { bcc: 'evil@evil.example' },
    { bcc: { 0: 'evil@evil.example' } },
    { bcc: [['evil@evil.example']] },
    ...['Bcc', 'BCC', 'bcc_email', 'bccs', 'blind_copy', 'hidden', 'envelope', 'rcpt'].map(
      (field) => ({ [field]: ['evil@evil.example'] }),
    ),
    ...['Bcc', 'bcc', 'BCC', 'Resent-Bcc', 'To', 'Cc', 'Bcc ', 'Bcc:'].map((name) => ({
      headers: { [name]: 'evil@evil.example' },
    })),
    ...['to', 'cc'].flatMap((list) => [
      { [list]: ['ada@example.net\r\nBcc: evil@evil.example'] },
      { [list]: ['ada@example.net, evil@evil.example\n'] },
    ]),
    { reply_to: 'ada@example.net\r\nBcc: evil@evil.example' },
    { from_email: 'hello@example.com\nBcc: evil@evil.example' },
    { headers: { 'X-Note': 'a\r\nBcc: evil@evil.example' } },
    { tags: ['a\r\nBcc: evil@evil.example'] },
  ]);
  expect(await everyRecipient()).toMatch(/ada@example\.net/);
  expect(await everyRecipient()).not.toMatch(/evil/i);
}, 240_000);

it('daily_cap', async () => {
  const scopes = ['email:send', 'email:read', 'messages:write', 'templates:write'] as const;
  const { key } = await keyWith({ dailyCap: 3 }, scopes);
  const first = await service.send(key, anEmail({ to: ['1@example.net', '2@example.net'] }));
  expect(first.status).toBe(202);
  expect((await service.send(key, anEmail({ to: ['3@example.net'] }))).status).toBe(202);
  const count = async () => {
    const [row] = await service.database.query<{ count: string }>(
      `SELECT count(*) FROM messages WHERE account_id = $1 AND recipients::text ~ '(capped|[123])@'`,
      [account.id],
    );
    return Number(row!.count);
  };
  const before = await count();
  const to = ['capped@example.net'];
  const later = new Date(Date.now() + 3_600_000).toISOString();
  const emails = [
    ...[{}, { cc: ['a@example.net'] }, { bcc: ['a@example.net'] }, { scheduled_at: later }],
    ...[{ tags: ['x'] }, { subject: 'Other' }, { text: 'Other' }, { headers: { 'X-A': 'b' } }],
    ...[{ reply_to: 'a@example.com' }, { to: ['Capped <capped@example.net>'] }],
    ...[{ to: ['CAPPED@EXAMPLE.NET'] }, { to: ['capped@simulator.test'] }],
  ].map((change) => anEmail({ to, ...change }));
  const post = async (path: string, body: unknown) =>
    (
      await request(`${service.url}${path}`, {
        method: 'POST',
        headers: { 'x-api-key': key, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    ).status;
  const statuses: number[] = [];
  for (const email of emails) statuses.push(...(await byEveryDoor(key, email)));
  for (const n of [1, 2]) {
    const named = { 'idempotency-key': `cap-${n}` };
    statuses.push((await service.send(key, anEmail({ to }), named)).status);
    statuses.push((await postBatch(service, key, [anEmail({ to })], named)).status);
  }
  statuses.push(await post(`/v1/messages/${first.body.id}/send-again`, {}));
  statuses.push(await post('/v1/templates/welcome/test-send', { to: to[0] }));
  const many = { ...anEmail(), to: undefined, recipients: [{ to: to[0] }] };
  statuses.push((await postBatch(service, key, many)).status);
  for (const wanted of [{ allow_duplicate: true }, { idempotency_key: 'x' }]) {
    const tool = await callTool(service, key, 'send_email', { ...anEmail({ to }), ...wanted });
    statuses.push(tool.content.status);
  }
  expect(statuses.length).toBeGreaterThanOrEqual(LEAST_TRIES);
  expect(statuses.filter((status) => status !== 400 && status !== 403)).toEqual([]);
  expect(statuses.filter((status) => status === 403).length).toBeGreaterThanOrEqual(LEAST_TRIES);
  expect(await count()).toBe(before);
}, 240_000);

it('approval', async () => {
  const { id, key } = await keyWith({ approval: 'always' }, [...ALL_SCOPES, 'approvals:write']);
  const post = async (path: string, body: unknown = {}, method = 'POST') =>
    (
      await request(`${service.url}${path}`, {
        method,
        headers: { 'x-api-key': key, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    ).status;
  for (const email of [
    ...[{}, { cc: ['a@example.net'] }, { bcc: ['a@example.net'] }, { to: ['own@example.com'] }],
    ...[{ to: ['hello@example.com'] }, { headers: { 'X-Approved': 'yes', 'X-Held': 'no' } }],
    ...[
      { tags: ['approved'] },
      { from_email: 'no-reply@example.com' },
      { reply_to: 'a@b.example' },
    ],
  ]) {
    await byEveryDoor(key, anEmail({ ...email, subject: `Please ${JSON.stringify(email)}` }));
  }
  const client = await logIn(service.service.smtpPort!, key);
  await hand(
    client,
    'From: hello@example.com\r\nTo: ada@example.net\r\nSubject: x\r\n\r\nHello\r\n',
  );
  client.socket.destroy();
  await post('/v1/templates/welcome/test-send', { to: 'agent@example.net' });
  const held = async () =>
    await service.database.query<{ uuid: string; sha256: string; waits: boolean; leaves: number }>(
      `SELECT m.id AS uuid, encode(a.sha256, 'hex') AS sha256, a.state = 'waiting' AS waits,
              (SELECT count(*)::int FROM due_messages WHERE account_id = $1 AND message_id = m.id)
              + (SELECT count(*)::int FROM events WHERE account_id = $1 AND message_id = m.id) AS leaves
       FROM messages m LEFT JOIN approvals a ON a.account_id = m.account_id AND a.message_id = m.id
       WHERE m.account_id = $1 AND m.key_id = $2`,
      [account.id, readUuid('key_', id)],
    );
  const first = await held();
  expect(first.length).toBeGreaterThanOrEqual(LEAST_TRIES);
  for (const { uuid, sha256 } of first) {
    const message = showUuid('msg_', uuid);
    await post(`/v1/approvals/${message}/approve`, { sha256 });
    await post(`/v1/messages/${message}`, { scheduled_at: 'now' }, 'PATCH');
    await post(`/v1/messages/${message}/resolve`, { as: 'again' });
    await post(`/v1/messages/${message}/send-again`);
  }
  const all = await held();
  expect(all.length).toBeGreaterThan(first.length);
  expect(all.filter(({ waits, leaves }) => !waits || leaves > 0)).toEqual([]);
}, 240_000);

it('own_messages', async () => {
  const probe = 'not-for-others';
  const { key } = await keyWith({ ownMessages: true }, ALL_SCOPES);
  const sent = await service.send(account.key, {
    ...anEmail({
      to: [`${probe}@example.net`],
      subject: probe,
      html: `<p>${probe}</p>`,
      text: probe,
    }),
    tags: [probe],
  });
  const { id } = sent.body;
  await until(
    async () => (await service.get(account.key, `/v1/messages/${id}`)).body.status === 'delivered',
  );
  const ask = async (method: string, path: string, body?: Fields) => {
    const response = await fetch(service.url + path, {
      method,
      headers: {
        'x-api-key': key,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return `${response.status} ${await response.text()}`;
  };
  const mine = `/v1/messages/${id}`;
  const answers: [what: string, told: string][] = [];
  const get = async (path: string) => answers.push([path, await ask('GET', path)]);
  for (const part of [
    ...['', '/details', '/attempts', '/webhooks', '/content', '/source', '/attachments/0'],
    ...['/explanation', '/wait?timeout_seconds=1'],
  ]) {
    await get(`${mine}${part}`);
  }
  for (const query of [
    '',
    'subject=not-for',
    'status=delivered',
    'limit=100',
    'after=2020-01-01T00:00:00Z',
  ]) {
    await get(`/v1/messages?${query}`);
  }
  for (const path of [
    ...['', '?subject=not', '?limit=100', `/${id}`, `/${id}/html`, `/${id}/raw`].map(
      (part) => `/v1/sandbox/messages${part}`,
    ),
    ...[`/v1/approvals/${id}`, '/v1/approvals', '/v1/webhooks', '/emails', '/v1/emails'],
    ...['/v1/audit', '/v1/suppressions', '/v1/alerts', '/v1/statistics', '/v1/usage'],
  ]) {
    await get(path);
  }
  for (const action of ['cancel', 'resolve', 'send-again']) {
    const body = action === 'resolve' ? { as: 'sent' } : {};
    answers.push([action, await ask('POST', `${mine}/${action}`, body)]);
  }
  const act = { sha256: 'a'.repeat(64) };
  answers.push(['approve', await ask('POST', `/v1/approvals/${id}/approve`, act)]);
  answers.push(['decline', await ask('POST', `/v1/approvals/${id}/decline`, act)]);
  answers.push(['reschedule', await ask('PATCH', mine, { scheduled_at: 'now' })]);
  answers.push(['clear', await ask('DELETE', '/v1/sandbox/messages')]);
  answers.push(['render', await ask('POST', '/v1/templates/welcome/render', { variables_of: id })]);
  answers.push(['rehearse', await ask('POST', '/v1/templates/welcome/rehearse', { version: 1 })]);
  const hook = { url: 'https://example.com/hook' };
  const made = await ask('POST', '/v1/webhooks', hook);
  expect(made).toMatch(/^403 .*own_messages/);
  const person = await ask('GET', `/v1/recipients/${probe}@example.net`);
  expect(person).toMatch(/^403 .*own_messages/);
  expect(await ask('DELETE', `/v1/recipients/${probe}@example.net`)).toMatch(/^403/);
  for (const [tool, wanted] of [
    ...['get_email_status', 'explain_delivery', 'cancel_email', 'wait_for_event'].map(
      (name): [string, Fields] => [name, { sm_mail_id: id }],
    ),
    ['search_messages', {}],
    ['search_messages', { status: ['delivered', 'opened'] }],
    ['list_sandbox_emails', {}],
    ['list_sandbox_emails', { limit: 100 }],
  ] as [string, Fields][]) {
    answers.push([tool, JSON.stringify((await callTool(service, key, tool, wanted)).content)]);
  }
  expect(answers.length).toBeGreaterThanOrEqual(LEAST_TRIES);
  for (const [what, told] of answers) {
    expect([what, told.includes(probe) ? told : '']).toEqual([what, '']);
  }
  const kept = await service.database.query('SELECT FROM sandbox_mails WHERE account_id = $1', [
    account.id,
  ]);
  expect(kept.length).toBeGreaterThan(0);
}, 240_000);

it('link_hosts: names and headers count too', async () => {
  const { key } = await keyWith({ linkHosts: ['example.com'] });
  expect((await service.send(key, anEmail({ to: ['Ada L. <ada@example.net>'] }))).status).toBe(202);
  const named = ['see https://evil.com', 'evil.com', 'www.evil.io/x', 'go to evil.ru'];
  for (const name of named) {
    for (const attempt of [
      { to: [`"${name}" <ada@example.net>`] },
      { cc: [`"${name}" <ada@example.net>`] },
      { from_email: `"${name}" <hello@example.com>` },
      { reply_to: `"${name}" <hello@example.com>` },
      { headers: { 'List-Help': `<${name}>` } },
    ]) {
      const statuses = await byEveryDoor(key, anEmail(attempt));
      expect([attempt, [...new Set(statuses)]]).toEqual([attempt, [403]]);
    }
  }
});

/** What the rule cannot look through, and what leads elsewhere in what it can. */
const FILES: [filename: string, content_type: string, content: string | Buffer][] = [
  ...[
    ...['a.html', 'a.htm', 'a.xhtml', 'a.svg', 'a.eml', 'a.mht', 'a.pdf', 'a.zip', 'a.docx'],
    ...[
      'a.rtf',
      'a.url',
      'a.webloc',
      'a.lnk',
      'a.csv',
      'a.vcf',
      'a.xml',
      'a.js',
      'a',
      'a.',
      'html',
    ],
    ...['a.png.html', 'a.txt ', 'a.ics\u202egpj', 'a.jpe'],
  ].map((name): [string, string, string] => [name, 'image/png', 'nothing']),
  ...[
    ...['text/html', 'application/octet-stream', 'image/svg+xml', 'message/rfc822', 'text/htm'],
    ...['text/plain; charset=utf-7', 'text/plain; charset*=utf-16', 'multipart/mixed'],
    ...['text/calendar', 'TEXT/HTML', 'text/plain;charset="utf-16le"', 'text/plain; name="a.html"'],
  ].map((type): [string, string, string] => ['a.txt', type, 'nothing']),
  ['a.txt', 'text/plain', 'see https://evil.example'],
  ['a.txt', 'text/plain', 'see www.evil.com'],
  ['a.txt', 'text/plain', 'https:evil.example'],
  ['a.txt', 'text/plain', 'https://example.com@evil.example'],
  ['a.txt', 'text/plain', Buffer.from('https://evil.example', 'utf16le')],
  ['a.txt', 'text/plain', Buffer.from([0xff, 0xfe, 0x2f, 0x00])],
  ['a.txt', 'text/plain', 'https://evil.example:x.example.com'],
  ['a.txt', 'text/plain', 'a'.repeat(300_000)],
  ['a.ics', 'text/calendar', 'URL:https://evil.example'],
  ['a.ics', 'text/calendar', 'URL:https:/\r\n /evil.example'],
  ['a.ics', 'text/calendar', 'DESCRIPTION:go to evil.c\r\n\tom now'],
  ['a.ics', 'text/calendar; method=REQUEST', 'LOCATION:https://evil.example/room'],
  ['a.ics', 'text/calendar', 'ATTACH;ENCODING=BASE64:aHR0cHM6Ly9ldmls'],
  ['a.ics', 'text/calendar', 'ATTACH;ENCO\r\n DING=BASE64:aHR0cHM6Ly9ldmls'],
];

const file = (filename: string, content_type: string, content: string | Buffer) => ({
  attachments: [
    { filename, content_type, content_base64: Buffer.from(content).toString('base64') },
  ],
});

it('link_hosts: files that lead elsewhere, or may', async () => {
  const { key } = await keyWith({ linkHosts: ['example.com'] });
  for (const fine of [
    file('logo.PNG', 'image/png', 'not looked at'),
    file('a.jpeg', 'image/jpeg', 'not looked at'),
    file('note.txt', 'text/plain; charset=utf-8', 'see https://example.com\nBye'),
    file('a.ics', 'text/calendar; method=REQUEST', 'URL:https://meet.exam\r\n ple.com/x\r\nEND:X'),
  ]) {
    expect([fine, (await service.send(key, anEmail(fine))).status]).toEqual([fine, 202]);
  }
  await refusedEverywhere(
    key,
    FILES.map((one) => file(...one)),
  );
  const told = await service.send(key, anEmail(file('invoice.pdf', 'application/pdf', 'x')));
  expect(told.body.detail).toMatch(/link_hosts.*file invoice\.pdf cannot be looked through/);
}, 240_000);

it('link_hosts: megabytes are looked through to their end, also where they are cut', async () => {
  const { key } = await keyWith({ linkHosts: ['example.com'] });
  const long = (piece: string, length: number): string => piece.repeat(length / piece.length);
  const fine = long('<a href="https://example.com/a">a</a> &#x41; (b) ', 2_000_000);
  expect((await service.send(key, anEmail({ html: fine }))).status).toBe(202);
  for (const html of [
    `${fine}<a href="https://evil.example">`,
    `${fine}<a href="https://example.com<\u0338.evil.example">`,
    `${fine}${'x'.repeat(70_000)} <p>`,
  ]) {
    const { status, body } = await service.send(key, anEmail({ html }));
    expect([status, body.detail]).toEqual([403, expect.stringContaining('link_hosts')]);
  }
  const links = [
    'https://evil.example',
    '<a href="//evil.example">',
    '(evil.com)',
    '&#47;/evil.io',
  ];
  for (const link of links) {
    for (let before = 16_384 - 40; before < 16_384 + 10; before++) {
      const text = `${'x '.repeat(before / 2)}${before % 2 ? ' ' : ''}${link} ${long('y ', 20_000)}`;
      expect(atOnce(strangeLink(text, ['example.com'])), `${before}`).toMatch(/^evil/);
    }
  }
});

it('link_hosts: what a browser reads as a link, and what a template puts together', async () => {
  const { key } = await keyWith({ linkHosts: ['example.com'] });
  const welcome = { template: 'welcome', subject: undefined, html: undefined, text: undefined };
  const variables = { name: 'Ada', action_url: 'https://example.com/' };
  const put = (words: Fields) => ({ ...welcome, variables, ...words });
  const fine = put({ text: 'Hello {{ name }}: {{ action_url }}\nBye', subject: '{{ name }}' });
  expect((await service.send(key, anEmail(fine))).status).toBe(202);
  const plain = { html: undefined, text: 'See https://example.com\nThank you' };
  expect((await service.send(key, anEmail(plain))).status).toBe(202);
  for (const attempt of [
    ...[
      ...['https:evil.example', 'https:/evil.example', 'HTTPS:evil.example', 'http:\\evil.example'],
      ...[
        '//evil.example&quest;.example.com',
        '//evil.example&num;.example.com',
        'ftp:evil.example',
      ],
      ...[
        '/&Tab;/evil.example',
        'https:&NewLine;evil.example',
        '//example.com&commat;evil.example',
      ],
      ...['https://exam\nple.com.evil.example', 'ht&Tab;tps:evil.example'],
    ].map((href) => ({ html: `<a href="${href}">here</a>` })),
    put({ text: `{{ 'https:/' }}{{ '/evil.example' }}` }),
    put({ text: `{{ 'evil' ~ '.' ~ 'com' }}` }),
    put({ subject: `{{ 'www.evil' }}{{ '.com' }}` }),
    put({ text: '{{ name }}/evil.example', variables: { ...variables, name: 'https:/' } }),
  ]) {
    const statuses = await byEveryDoor(key, anEmail(attempt));
    expect([attempt, [...new Set(statuses)]]).toEqual([attempt, [403]]);
  }
});

it('by SMTP: what no other door would let through', async () => {
  const tries: [rule: string, limits: Partial<AgentLimits>, header: string, body?: string][] = [
    ['link_hosts', { linkHosts: ['example.com'] }, 'Subject: x', 'https://evil.example'],
    ['link_hosts', { linkHosts: ['example.com'] }, 'Subject: x', 'nothing'],
    [
      'link_hosts',
      { linkHosts: ['example.com'] },
      'X-SM-Template: welcome\r\nX-SM-Variables: {"action_url":"https://evil.example/"}',
    ],
    ['reply_to', { replyTo: ['help.example'] }, 'Reply-To: a@help.example, b@evil.example'],
    ['reply_to', { replyTo: ['help.example'] }, 'Reply-To: a@evil.example, b@evil.example'],
    ['templates_only', { templatesOnly: true }, 'Subject: x'],
    ['no_bcc', { noBcc: true }, 'Subject: x\r\nX-To: nobody'],
  ];
  for (const [rule, limits, header, body = 'Hello'] of tries) {
    const { key } = await keyWith(limits);
    const client = await logIn(service.service.smtpPort!, key);
    const to = rule === 'no_bcc' ? 'undisclosed-recipients:;' : 'ada@example.net';
    const email = `From: hello@example.com\r\nTo: ${to}\r\n${header}\r\n\r\n${body}\r\n`;
    expect([header, await hand(client, email)]).toEqual([
      header,
      expect.stringMatching(new RegExp(`^55\\d .*${rule}`, 's')),
    ]);
    client.socket.destroy();
  }
});

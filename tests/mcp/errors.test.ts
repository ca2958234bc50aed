// Every error of section 7 says the same through MCP as through REST: status, detail and how long
// to wait.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type AccountWish,
  anEmail,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';
import { callTool, ERAS, post, rpc } from './support.ts';

let service: TestService;
let withoutRelay: TestService;
beforeAll(async () => {
  service = await startTestService();
  withoutRelay = await startTestService({ RELAY_URL: 'smtp://127.0.0.1:1' });
});
afterAll(async () => {
  await withoutRelay.stop();
  await service.stop();
});

interface Case {
  name: string;
  status: number;
  account?: AccountWish;
  /** Changes of an email that is accepted as it is. */
  sent?: Record<string, unknown>;
  relayDown?: boolean;
  key?: string;
}

const template = (slug: string, variables = {}) => ({
  ...{ html: undefined, text: undefined, subject: undefined },
  ...{ template: slug, variables },
});

const CASES: Case[] = [
  { name: '400: no subject', status: 400, sent: { subject: undefined } },
  { name: '400: no body', status: 400, sent: { html: undefined, text: undefined } },
  { name: '400: no recipients', status: 400, sent: { to: [] } },
  { name: '400: to is missing', status: 400, sent: { to: undefined } },
  { name: '400: an invalid address', status: 400, sent: { cc: ['not an address'] } },
  {
    name: '400: over 50 recipients',
    status: 400,
    sent: { to: Array.from({ length: 51 }, (_, n) => `a${n}@example.net`) },
  },
  { name: '400: an unknown field', status: 400, sent: { atachments: [] } },
  { name: '400: a field of the wrong type', status: 400, sent: { tags: 'receipt' } },
  { name: '400: a structural header', status: 400, sent: { headers: { Bcc: 'x@example.net' } } },
  { name: '400: a missing variable', status: 400, sent: template('password-reset') },
  { name: '401: no key', status: 401, key: '' },
  { name: '401: an unknown key', status: 401, key: 'sm_live_nonsense' },
  { name: '402: a non-paying account', status: 402, account: { plan: 'free' } },
  { name: '403: no verified sender', status: 403, sent: { from_email: 'a@other.example' } },
  { name: '403: no scope', status: 403, account: { scopes: ['email:read'] } },
  { name: '404: no such template', status: 404, sent: template('pasword-reset') },
  { name: '429: the daily quota', status: 429, account: { dailyQuota: 0 } },
  { name: '502: the relay', status: 502, relayDown: true },
];

describe.each(ERAS)('%s', (era) => {
  it.each(CASES)('$name', async ({ status, account, sent, relayDown, key }) => {
    const on = relayDown ? withoutRelay : service;
    const caller = key ?? (await on.account(account)).key;
    const wanted = definedOnly(anEmail(sent));
    const rest = await on.send(caller, wanted);
    expect(rest.status).toBe(status);
    expect(rest.body.detail.length).toBeGreaterThan(10);

    if (status === 401 || status === 402) {
      // These are settled before any protocol.
      const answer = await post(`${on.url}/mcp`, caller, rpc(era, 'tools/list'));
      expect(answer).toMatchObject({ status, body: rest.body });
      return;
    }
    const { isError, content } = await callTool(on, caller, 'send_email', wanted, era);
    expect(isError).toBe(true);
    const wait = rest.headers.get('retry-after');
    expect(content).toMatchObject({
      status,
      detail: rest.body.detail,
      ...(wait === null ? {} : { retry_after_seconds: expect.any(Number) }),
      next: expect.stringMatching(/.{20}/),
    });
    // The clock moves on between the two answers.
    if (wait !== null)
      expect(Math.abs(content.retry_after_seconds - Number(wait))).toBeLessThan(60);
  });

  it('429: the rate, met by the same burst', async () => {
    // A burst is two seconds' worth of one call a second; the third call comes too soon.
    const burst = async (call: (account: TestAccount, n: number) => Promise<string | null>) => {
      const account = await service.account({ ratePerSecond: 1 });
      const details = await Promise.all([0, 1, 2, 3].map((n) => call(account, n)));
      return details.find((detail) => detail !== null);
    };
    const rest = await burst(async ({ key }, n) => {
      const answer = await service.send(key, anEmail({ subject: `${n}` }));
      return answer.status === 429 ? answer.body.detail : null;
    });
    const mcp = await burst(async ({ key }, n) => {
      const answer = await callTool(service, key, 'send_email', anEmail({ subject: `${n}` }), era);
      return answer.isError ? answer.content.detail : null;
    });
    expect(rest).toMatch(/sends a second/);
    expect(mcp).toBe(rest);
  });

  it('404: no such message', async () => {
    const { key } = await service.account();
    const rest = await service.get(key, '/v1/messages/msg_nothing');
    const { isError, content } = await callTool(
      service,
      key,
      'get_email_status',
      { sm_mail_id: 'msg_nothing' },
      era,
    );
    expect(rest.status).toBe(404);
    expect(isError).toBe(true);
    expect(content).toMatchObject({ status: 404, detail: rest.body.detail });
  });

  it('403: no scope to read', async () => {
    const { key } = await service.account({ scopes: ['email:send'] });
    const rest = await service.get(key, '/v1/messages/msg_nothing');
    const wanted = { sm_mail_id: 'msg_nothing' };
    const { content } = await callTool(service, key, 'get_email_status', wanted, era);
    expect(rest.status).toBe(403);
    expect(content).toMatchObject({ status: 403, detail: rest.body.detail });
  });
});

it('a fault of ours is 500 in both, and is not explained', async () => {
  const broken = await startTestService();
  const { key } = await broken.account();
  try {
    await broken.database.query('ALTER TABLE events RENAME TO events_gone');
    await broken.database.query('ALTER TABLE messages RENAME TO messages_gone');
    const id = 'msg_01K9ZQ3V7N8M2R4T6W8Y0A1B2C';
    const rest = await broken.get(key, `/v1/messages/${id}`);
    const mcp = await callTool(broken, key, 'get_email_status', { sm_mail_id: id });
    expect(rest.status).toBe(500);
    expect(mcp.content).toMatchObject({ status: 500, detail: rest.body.detail });
    expect(JSON.stringify(mcp.content)).not.toMatch(/relation|events|SQL/i);
  } finally {
    await broken.stop();
  }
});

/** JSON has no undefined; the tests write it for "without". */
const definedOnly = (fields: Record<string, unknown>): Record<string, unknown> =>
  JSON.parse(JSON.stringify(fields));

// Headers that give relays instructions: a key that may write to one domain must not reach others
// through the relay's own commands.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createKey } from '../../src/accounts/keys.ts';
import { systemClock } from '../../src/process/clock.ts';
import { hand, idIn, logIn, SIMPLE } from '../submission/client.ts';
import { captured, header } from '../support/captured.ts';
import { anEmail, startTestService, type TestService } from '../support/service.ts';

const ORDERS = [
  ['X-SMTPAPI', '{"to":["outsider@elsewhere.example"]}'],
  ['x-smtpapi', '{}'],
  ['X-SG-EID', 'x'],
  ['X-SES-CONFIGURATION-SET', 'untracked'],
  ['X-SES-SOURCE-ARN', 'arn:aws:ses:eu-west-1:123456789012:identity/x'],
  ['X-Mailgun-Recipient-Variables', '{}'],
  ['X-Mailgun-Track', 'no'],
  ['X-PM-Message-Stream', 'broadcast'],
  ['X-MSYS-API', '{"options":{}}'],
  ['X-MC-Template', 'x'],
  ['X-MC-BccAddress', 'outsider@elsewhere.example'],
  ['X-Mailin-Tag', 'x'],
  ['X-Sib-Sandbox', 'drop'],
  ['X-MJ-TemplateID', '1'],
  ['X-Mailjet-Campaign', 'x'],
  ['X-MS-Exchange-Organization-SCL', '-1'],
  ['X-Virtual-MTA', 'fast'],
  ['X-Binding', 'fast'],
  ['X-Postal-Tag', 'x'],
  ['X-MS-AcsEmail-Suppress', 'true'],
  ['Errors-To', 'outsider@elsewhere.example'],
  ['Return-Receipt-To', 'outsider@elsewhere.example'],
  ['Apparently-To', 'outsider@elsewhere.example'],
  ['Delivered-To', 'ada@example.net'],
] as const;

describe('headers that command a relay', () => {
  let service: TestService;
  let key: string;

  beforeAll(async () => {
    service = await startTestService({ SMTP_PORT: '0' });
    const { id } = await service.account();
    const made = await createKey(service.database, systemClock, {
      accountId: id,
      scopes: ['email:send'],
      limits: { allowedRecipients: ['example.net'] },
    });
    key = made.key;
  });

  afterAll(() => service.stop());

  it.each(ORDERS)('%s is refused, with what to do', async (name, value) => {
    const { status, body } = await service.send(key, anEmail({ headers: { [name]: value } }));
    expect([status, body.detail]).toEqual([
      400,
      `headers: ${name} controls the relay and cannot be set. Use a name of your own such as X-Order, or ask the operator of this service to allow it (ALLOWED_HEADERS).`,
    ]);
  });

  it('by every other door as well', async () => {
    const seen: string[] = [];
    const post = async (path: string, body: unknown): Promise<string> => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      const url = `${service.url}${path}`;
      const sent = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
      return `${sent.status} ${await sent.text()}`;
    };
    const client = await logIn(service.service.smtpPort!, key);
    for (const [name, value] of ORDERS) {
      const headers = { [name]: value };
      const resend = { from: 'hello@example.com', to: 'ada@example.net', subject: 'x', text: 'x' };
      expect(await post('/v1/send/batch', [anEmail(), anEmail({ headers })])).toMatch(
        /^400 .*controls/,
      );
      expect(await post('/emails', { ...resend, headers })).toMatch(/^422 .*controls/);
      expect(await post('/emails/batch', [{ ...resend, headers }])).toMatch(/^422 .*controls/);
      const reply = await hand(client, `${name}: ${value}\r\n${SIMPLE}`);
      // What a mail server wrote on the way is left out, and the rest refused.
      if (reply.startsWith('250')) seen.push(idIn(reply));
      else expect(reply).toMatch(/^5\d\d[ -][\s\S]*controls/);
    }
    client.socket.destroy();
    for (const id of seen) {
      const { email: got } = await captured(service.database, id);
      for (const [name] of ORDERS) {
        // The last server of the way writes this one.
        if (name !== 'Delivered-To') expect(header(got, name)).toBeUndefined();
      }
    }
  });

  it('names of one’s own go through, also those that look alike', async () => {
    const headers = { 'X-Order': '17', 'X-Sesame': 'x', 'X-PMO': 'x', 'List-Id': 'a.example' };
    const sent = await service.send(key, anEmail({ headers }));
    expect(sent.status).toBe(202);
    const { email: seen } = await captured(service.database, sent.body.id);
    expect(header(seen, 'X-Sesame')).toBe('x');
  });
});

describe('ALLOWED_HEADERS', () => {
  it('lets single names through, and never one that the service writes', async () => {
    const service = await startTestService({ ALLOWED_HEADERS: 'X-PM-Tag, From' });
    try {
      const { key } = await service.account();
      const send = (name: string) => service.send(key, anEmail({ headers: { [name]: 'welcome' } }));
      const sent = await send('x-pm-tag');
      expect(sent.status).toBe(202);
      const { email: seen } = await captured(service.database, sent.body.id);
      expect(header(seen, 'X-PM-Tag')).toBe('welcome');
      expect((await send('X-PM-Message-Stream')).status).toBe(400);
      expect((await send('From')).body.detail).toContain('is written by the service');
    } finally {
      await service.stop();
    }
  });
});

// What happened to email at each receiver: counted from events by host and domain, kept by day,
// shown with the words of refusals; and the alerts at the published limits.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bytesToUuid, newIdBytes } from '../../src/ids.ts';
import { RECEIVERS } from '../../src/messages/receiver-groups.ts';
import {
  request,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';

let service: TestService;
let account: TestAccount;
beforeAll(async () => {
  service = await startTestService();
  account = await service.account({ scopes: ['admin', 'email:send'] });
});
afterAll(() => service.stop());

/** Events as feedback records them, `times` of each. */
async function record(
  kind: string,
  recipient: string,
  detail: Record<string, unknown> = {},
  { times = 1, by = account, atMs = Date.now() } = {},
): Promise<void> {
  for (let left = times; left > 0; left -= 500) {
    const ids = Array.from({ length: Math.min(left, 500) }, () => bytesToUuid(newIdBytes(atMs)));
    await service.database.query(
      `INSERT INTO events (account_id, message_id, id, kind, at, recipients, detail)
       SELECT $1, id, id, $3, now(), ARRAY[$4], $5 FROM unnest($2::uuid[]) AS id`,
      [by.id, ids, kind, recipient, JSON.stringify(detail)],
    );
  }
}
const get = (path: string, by = account) =>
  request(`${service.url}${path}`, { headers: { 'x-api-key': by.key } });

describe('statistics by receiver', () => {
  it('know a receiver by the host that answered, else by the domain', async () => {
    await record('delivered', 'ada@gmail.com', {}, { times: 3 });
    await record('delivered', 'ada@company.example', { remote_mta: 'aspmx.l.google.com' });
    await record('delivered', 'bob@hotmail.co.uk');
    await record('bounced', 'eve@YAHOO.com', {
      ...{ bounce_type: 'permanent', smtp_response: '554 5.7.9 Message not accepted' },
      remote_mta: 'mta7.am0.yahoodns.net',
    });
    await record('bounced', 'eve@yahoo.com', { bounce_type: 'suppressed' });
    await record('complained', 'ada@gmail.com', { feedback_type: 'abuse' });
    // Nobody's domain becomes Google's by its name.
    await record('delivered', 'x@notgmail.com', { remote_mta: 'mx.evilgoogle.com' });
    await record('opened', 'ada@gmail.com');
    await service.database.query(
      `INSERT INTO messages (account_id, id, from_email, recipients, subject, door, last_delay)
       VALUES ($1, $2, 'a@example.com', '{late@web.de}', 'x', 'rest', '{"recipients": ["late@web.de"]}')`,
      [account.id, bytesToUuid(newIdBytes(Date.now()))],
    );
    const { status, body } = await get('/v1/statistics/receivers?days=2');
    expect(status).toBe(200);
    const shown = Object.fromEntries(
      body.receivers.map((it: Record<string, unknown>) => [
        it.receiver,
        [it.delivered, it.deferred, it.bounced, it.complained],
      ]),
    );
    expect(shown).toEqual({
      gmail: [4, 0, 0, 1],
      outlook: [1, 0, 0, 0],
      yahoo: [0, 0, 1, 0],
      gmx: [0, 1, 0, 0],
      others: [1, 0, 0, 0],
    });
    const yahoo = body.receivers.find((it: { receiver: string }) => it.receiver === 'yahoo');
    expect(yahoo.refusals).toEqual([{ words: '554 5.7.9 Message not accepted', count: 1 }]);
    expect(yahoo.points).toHaveLength(2);
    expect(yahoo.points[1]).toMatchObject({ bounced: 1 });
    expect(body.complete).toBe(true);
  });

  it('are each account’s own, and none where nothing was told', async () => {
    const other = await service.account({ scopes: ['admin'] });
    expect((await get('/v1/statistics/receivers', other)).body).toEqual({
      ...{ receivers: [], complete: true },
    });
  });

  it('have patterns that the database reads as we do', async () => {
    const names = [
      'gmail.com',
      'xgmail.com',
      'yahoo.co.uk',
      'aol.com',
      'me.com',
      'web.de',
      'ya.ru',
    ];
    for (const { domains } of RECEIVERS) {
      const rows = await service.database.query<{ name: string }>(
        `SELECT name FROM unnest($1::text[]) AS name WHERE name ~ '${domains.source}'`,
        [names],
      );
      expect(rows.map(({ name }) => name)).toEqual(names.filter((name) => domains.test(name)));
    }
  });
});

it.each([
  [1000, 0, undefined],
  [2001, 2, undefined],
  [2000, 2, 'warning'],
  [1667, 5, 'warning'],
  [1666, 5, 'critical'],
  [1000, 50, 'critical'],
  [50, 5, undefined],
  // Of few people a rate says little: one among 100 is 1 %.
  [100, 1, undefined],
  [100, 2, 'warning'],
  [100, 4, 'warning'],
  [100, 5, 'critical'],
])('%i delivered at Gmail and %i complaints: %s', async (delivered, complained, severity) => {
  const by = await service.account({ scopes: ['admin'] });
  await record('delivered', 'a@gmail.com', {}, { times: delivered, by });
  await record('complained', 'a@gmail.com', {}, { times: complained, by });
  const { body } = await get('/v1/alerts', by);
  const alert = body.data.find((it: { kind: string }) => it.kind === 'complaint-rate');
  expect(alert?.severity).toBe(severity);
  if (severity !== undefined) expect(alert.title).toContain('gmail');
});

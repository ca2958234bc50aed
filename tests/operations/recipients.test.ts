// One person's data: exported completely, and erased from every table. What they unsubscribed from
// stays unsubscribed.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Sandmartin } from '../../src/client/sandmartin.ts';
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

/** Tables in which a text stands, in any form: as text, within JSON, as bytes. */
async function tablesWith(text: string): Promise<string[]> {
  const tables = await service.database.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition`,
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const [row] = await service.database.query<{ count: number }>(
      `SELECT count(*) AS count FROM ${name} t WHERE position(lower($1) IN lower(t::text)) > 0 OR position($2 IN t::text) > 0`,
      [text, Buffer.from(text).toString('hex')],
    );
    if (row!.count > 0) found.push(name);
  }
  return found.sort();
}

it('everything about a person is given out, and after erasing no table knows them', async () => {
  const alone = await sendTo(ADA);
  const together = await sendTo(ADA.toUpperCase().replace('PERSON.EXAMPLE', 'person.example'), BOB);
  const others = await sendTo(BOB);
  await api().suppressions.put({ address: ADA });
  await service.database.query(
    `INSERT INTO events (account_id, message_id, id, kind, at, recipients, detail)
     SELECT account_id, id, gen_random_uuid(), 'clicked', now(), ARRAY[$2], '{"url": "https://a.example/?u=ada", "user_agent": "Ada’s phone", "ip_address": "192.0.2.7", "machine": false}'
     FROM messages WHERE account_id = $1 AND recipients = ARRAY[$2]`,
    [id, ADA],
  );

  await service.database.query(
    `INSERT INTO receiver_days VALUES ($1, now(), jsonb_build_object('said', '550 no such user <' || $2::text || '>'), now())`,
    [id, ADA],
  );

  const held = await api().recipients.export({ address: ADA });
  expect(held.data.map(({ sm_mail_id }) => sm_mail_id).sort()).toEqual([alone, together].sort());
  expect(held.suppressions).toMatchObject([{ address: ADA, reason: 'manual' }]);
  const told = held.data.find(({ sm_mail_id }) => sm_mail_id === alone)!;
  expect(told).toMatchObject({
    subject: `For ${ADA}`,
    html: expect.stringContaining(`Dear ${ADA}`),
  });
  expect(told.events.map(({ type }) => type)).toEqual(['sent', 'delivered', 'clicked']);

  const erased = await api().recipients.erase({ address: ADA });
  expect(erased).toMatchObject({ messages: 2, contents: 2, suppressions: 1 });
  expect(await tablesWith(ADA)).toEqual([]);
  expect(await tablesWith('Ada’s phone')).toEqual([]);

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
  expect((await api().recipients.export({ address: ADA })).data).toEqual([]);
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

// Notices: people are told about a sign-in from a new place, and owners about a new API key,
// whichever door created it.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createKey } from '../../src/accounts/keys.ts';
import { readUuid, showUuid } from '../../src/ids.ts';
import { deviceOf, noteSignIn, prunePlaces } from '../../src/people/sign-in-places.ts';
import { systemClock } from '../../src/process/clock.ts';
import { makeUser, openClient, openSignedIn, PASSWORD } from '../dashboard/dashboard-client.ts';
import { captured, header } from '../support/captured.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
const CHROME =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';

let service: TestService;
let accountId: number;

beforeAll(async () => {
  service = await startTestService({ TRUSTED_PROXIES: '127.0.0.1' });
  ({ id: accountId } = await service.account());
});

afterAll(() => service.stop());

async function emailsTo(email: string, kind: string): Promise<string[]> {
  const rows = await service.database.query<{ id: string }>(
    'SELECT id FROM messages WHERE tags = $1 AND recipients = $2 ORDER BY id',
    [[kind], [email]],
  );
  return rows.map(({ id }) => showUuid('msg_', id));
}

const owed = () => service.database.query('SELECT FROM notices');

const signIn = (email: string, from: string, agent: string) =>
  openClient(service.url).call('signIn', {
    body: { email, password: PASSWORD },
    headers: { 'x-forwarded-for': from, 'user-agent': agent },
  });

describe('a sign-in', () => {
  it('from a new network or device is told, from a known one not, nor the first of all', async () => {
    const { id: userId, email } = await makeUser(service.database, { accountId });
    const note = (client: string, userAgent: string) =>
      noteSignIn(service.database, userId, { client, userAgent });
    await note('192.0.2.1', FIREFOX);
    await note('192.0.2.1', FIREFOX.replaceAll('140.0', '141.0'));
    expect(await owed()).toEqual([]);

    await signIn(email, '203.0.113.5', FIREFOX);
    const [id] = await until(async () => {
      const ids = await emailsTo(email, 'new-sign-in');
      return ids.length === 1 ? ids : undefined;
    });
    const { email: got } = await captured(service.database, id!);
    expect(got.subject).toBe('New sign-in from Firefox on Linux');
    expect(got.text).toContain('203.0.113.5');
    expect(got.text).toContain(`${service.url}/profile`);

    await note('203.0.113.5', CHROME);
    await until(async () => (await emailsTo(email, 'new-sign-in')).length === 2);
    await note('203.0.113.5', CHROME);
    await until(async () => (await owed()).length === 0);
    expect(await emailsTo(email, 'new-sign-in')).toHaveLength(2);
  });

  it('to a login that lay unused for a year is told like any other', async () => {
    const { id: userId, email } = await makeUser(service.database, { accountId });
    const note = (client: string) =>
      noteSignIn(service.database, userId, { client, userAgent: FIREFOX });
    await note('192.0.2.1');
    await note('192.0.2.2');
    await until(async () => (await emailsTo(email, 'new-sign-in')).length === 1);
    await service.database.query(
      `UPDATE sign_in_places SET last_at = last_at - interval '1 year' WHERE user_id = $1`,
      [readUuid('usr_', userId)],
    );
    await prunePlaces(service.database);
    await note('203.0.113.66');
    await until(async () => (await emailsTo(email, 'new-sign-in')).length === 2);
  });

  it('two at once from the same new place are told, and lose nothing', async () => {
    const { id: userId, email } = await makeUser(service.database, { accountId });
    const note = (client: string) =>
      noteSignIn(service.database, userId, { client, userAgent: FIREFOX });
    await note('192.0.2.1');
    await Promise.all([note('192.0.2.2'), note('192.0.2.2')]);
    await until(async () => (await emailsTo(email, 'new-sign-in')).length >= 1);
  });

  it('devices are named as people know them', () => {
    expect(deviceOf(CHROME)).toBe('Chrome on Windows');
    expect(deviceOf(`${CHROME} Edg/140.0.0.0`)).toBe('Edge on Windows');
    expect(deviceOf('curl/8.5.0')).toBe('another program');
    expect(deviceOf('')).toBe('another program');
  });
});

describe('a new key', () => {
  it('is told to every owner, and to nobody else', async () => {
    const team = await service.account();
    const owner = await openSignedIn(service, { accountId: team.id });
    const second = await makeUser(service.database, { accountId: team.id });
    const developer = await openSignedIn(service, { accountId: team.id, role: 'developer' });
    const { secret, ...key } = await developer.api.keys.create({
      ...{ name: 'Warehouse', scopes: ['email:send'] },
    });
    for (const { email } of [owner, second]) {
      const [id] = await until(async () => {
        const ids = await emailsTo(email, 'new-key');
        return ids.length > 0 ? ids : undefined;
      });
      const { email: got } = await captured(service.database, id!);
      expect(got.subject).toBe('New API key: Warehouse');
      // RFC 3834: no machine answers it; and mailbox providers count it for nobody's account.
      expect(header(got, 'Auto-Submitted')).toBe('auto-generated');
      expect(header(got, 'Feedback-ID')).toBeUndefined();
      expect(got.text).toContain(key.prefix);
      expect(got.text).toContain(developer.email);
      expect(got.text).not.toContain(secret);
    }
    expect(await emailsTo(developer.email, 'new-key')).toEqual([]);
  });

  it('made by command is told as well', async () => {
    const team = await service.account();
    const owner = await openSignedIn(service, { accountId: team.id });
    await createKey(service.database, systemClock, { accountId: team.id, scopes: ['email:read'] });
    await until(async () => (await emailsTo(owner.email, 'new-key')).length === 1);
  });

  it('where nothing may write, the notice is dropped and does not come back', async () => {
    const bare = await startTestService({ RELAY_URL: 'smtp://127.0.0.1:1', RELAY_DOWN: 'queue' });
    try {
      const { id } = await bare.account({ identities: [] });
      await makeUser(bare.database, { accountId: id });
      await createKey(bare.database, systemClock, { accountId: id, scopes: ['email:read'] });
      await until(async () => (await bare.database.query('SELECT FROM notices')).length === 0);
    } finally {
      await bare.stop();
    }
  });
});

// A backup taken while the service runs, restored elsewhere: every timeline reads as it did, keys
// and people are known, emails are signed with the same DKIM key. A file that is incomplete or not
// ours, or a database that is not empty, is refused, and nothing is half done.
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDns } from '../../src/accounts/dns.ts';
import { addDomain } from '../../src/accounts/domains.ts';
import { checkSealed, openSecret } from '../../src/roles/secrets.ts';
import { restoreBackup } from '../../src/store/backup/restore.ts';
import { writeBackup } from '../../src/store/backup/write.ts';
import { migrate, readMigrations } from '../../src/store/migrate.ts';
import { upgrade } from '../../src/store/upgrade.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import {
  anEmail,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';
import { type SmtpSink, startSink } from '../support/smtp-sink.ts';
import { until } from '../support/until.ts';

const PASSPHRASE = 'a passphrase for the test';
const SENDS = 40;
const folder = mkdtempSync(join(tmpdir(), 'sandmartin-backup-'));
const file = join(folder, 'whole.backup');

let relay: SmtpSink;
let before: TestService;
let account: TestAccount;
let published: Map<string, string>;
const stories = new Map<string, unknown>();

beforeAll(async () => {
  relay = await startSink();
  before = await startTestService({ RELAY_URL: relay.url });
  account = await before.account({ identities: [] });
  const { vault } = await openSecret(before.database, undefined);
  const deps = {
    database: before.database,
    vault,
    bounceDomain: 'bounces.example',
    dns: createDns([]),
  };
  const { records } = await addDomain(deps, account.id, 'signed.example', true);
  published = new Map(records.map(({ name, value }) => [name, value]));
  const ids: string[] = [];
  for (let n = 0; n < SENDS; n++) {
    const { body } = await before.send(
      account.key,
      signedEmail({ subject: `Order ${n}`, text: 'tabs\t, \\N and \\. \n\\.\n' }),
    );
    ids.push(body.id);
  }
  await until(() => relay.emails.length === SENDS);
  for (const id of ids) {
    await until(async () => (await story(before, id)).status === 'sent');
    stories.set(id, await story(before, id));
  }
  // Sends go on while the backup is written.
  let sending = true;
  const traffic = (async () => {
    while (sending) await before.send(account.key, signedEmail());
  })();
  await writeBackup(before.databaseUrl, file, PASSPHRASE);
  sending = false;
  await traffic;
});
afterAll(async () => {
  await before.stop();
  await relay.stop();
  rmSync(folder, { recursive: true });
});

const signedEmail = (changes: Record<string, unknown> = {}) =>
  anEmail({ from_email: 'Acme <hello@signed.example>', ...changes });

const story = async (service: TestService, id: string) =>
  (await service.get(account.key, `/v1/messages/${id}`)).body;

async function restoring(
  path: string,
  keys: { passphrase?: string; secretKey?: string } = { passphrase: PASSPHRASE },
): Promise<{ test: TestDatabase; report: Awaited<ReturnType<typeof restoreBackup>> }> {
  const test = await createTestDatabase({ empty: true });
  try {
    const { passphrase, secretKey } = keys;
    return { test, report: await restoreBackup(test, path, { passphrase, secretKey }) };
  } catch (error) {
    await test.drop();
    throw error;
  }
}

describe('restored into an empty database', () => {
  let test: TestDatabase;
  let after: TestService;
  beforeAll(async () => {
    ({ test } = await restoring(file));
    after = await startTestService({ RELAY_URL: relay.url }, { on: test });
  });
  afterAll(async () => {
    await after.stop();
    await test.drop();
  });

  it('every timeline reads as it did', async () => {
    expect(stories.size).toBe(SENDS);
    for (const [id, told] of stories) expect(await story(after, id)).toEqual(told);
  });

  it('nothing that was accepted before the backup is missing', async () => {
    const [lost] = await test.database.query<{ count: number }>(
      `SELECT count(*) AS count FROM messages m LEFT JOIN contents c ON (c.account_id, c.message_id) = (m.account_id, m.id)
       WHERE c.message_id IS NULL`,
    );
    expect(lost!.count).toBe(0);
  });

  it('sends an email that the same DKIM key signed', async () => {
    const { status, body } = await after.send(account.key, signedEmail());
    expect(status).toBe(202);
    const sent = await until(() => relay.emails.find(({ envelopeId }) => envelopeId === body.id));
    const resolver = async (name: string) => [[published.get(name)!]];
    const { results } = await dkimVerify(sent.raw, { resolver });
    expect(results.map(({ status: { result } }) => result)).toEqual(['pass', 'pass']);
  });

  it('goes on counting where it was: the next account has a number of its own', async () => {
    expect((await after.account()).id).toBeGreaterThan(account.id);
  });

  it('is not restored a second time over it', async () => {
    await expect(
      restoreBackup(test, file, { passphrase: PASSPHRASE, secretKey: undefined }),
    ).rejects.toThrow(/only into an empty database/);
  });
});

describe('secrets', () => {
  it('are in no backup that was written without a passphrase; a restore names what must be made again', async () => {
    const open = join(folder, 'open.backup');
    const report = await writeBackup(before.databaseUrl, open, undefined);
    expect(report.secret).toBe('left out');
    const [row] = await before.database.query<{ secret: Buffer }>(
      'SELECT secret FROM installation',
    );
    const plain = gunzipSync(readFileSync(open)).toString('latin1');
    for (const form of ['hex', 'base64', 'latin1'] as const) {
      expect(plain).not.toContain(row!.secret.toString(form));
    }
    expect(statSync(open).mode & 0o777).toBe(0o600);
    const { test } = await restoring(open, {});
    const { stranded } = await checkSealed(
      test.database,
      await openSecret(test.database, undefined),
    );
    expect(stranded.join()).toContain('signed.example');
    await test.drop();
  });

  it('need the right passphrase', async () => {
    await expect(restoring(file, {})).rejects.toThrow(/BACKUP_PASSPHRASE/);
    await expect(restoring(file, { passphrase: 'another passphrase' })).rejects.toThrow(
      /is not the passphrase/,
    );
  });

  it('of an installation with a SECRET_KEY need that', async () => {
    const SECRET_KEY = 'a secret key of thirty-two characters or more';
    const sealed = await startTestService({ SECRET_KEY, RELAY_URL: relay.url });
    const path = join(folder, 'key.backup');
    await writeBackup(sealed.databaseUrl, path, PASSPHRASE);
    await sealed.stop();
    await expect(restoring(path)).rejects.toThrow(/Set SECRET_KEY as it was/);
    await expect(restoring(path, { secretKey: `${SECRET_KEY}!` })).rejects.toThrow(/not the one/);
    const { test } = await restoring(path, { secretKey: SECRET_KEY });
    await openSecret(test.database, SECRET_KEY);
    await test.drop();
  });
});

describe('a file', () => {
  const variant = (name: string, bytes: Buffer): string => {
    writeFileSync(join(folder, name), bytes);
    return join(folder, name);
  };

  it('that is cut, changed or something else is refused, and a whole one goes in afterwards', async () => {
    const whole = readFileSync(file);
    const changed = Buffer.from(whole);
    changed[whole.length >> 1]! ^= 1;
    const test = await createTestDatabase({ empty: true });
    const keys = { passphrase: PASSPHRASE, secretKey: undefined };
    for (const path of [
      variant('cut', whole.subarray(0, whole.length >> 1)),
      variant('short', whole.subarray(0, whole.length - 4)),
      variant('changed', changed),
      variant('empty', Buffer.alloc(0)),
      variant('other', gzipSync('sandmartin backup 1\nand nothing that was meant')),
      variant('text', Buffer.from('{"not": "a backup"}')),
    ]) {
      await expect(restoreBackup(test, path, keys), path).rejects.toThrow(
        /not a (complete )?backup/,
      );
    }
    await restoreBackup(test, file, keys);
    await test.drop();
  });

  it.each<[string, (whole: Part[]) => Part[]]>([
    [
      'a table whose name goes on as a statement',
      renamed('a" (b) FROM STDIN; CREATE TABLE c (); --'),
    ],
    ['a table that is no table of ours', renamed('pg_authid')],
    [
      'a column whose name goes on as a statement',
      (whole) =>
        whole.map((part) => (isTable(part) ? ['T', { ...part[1], columns: [COLUMN] }] : part)),
    ],
    ['rows before any table', (whole) => [whole[0]!, ['R', '1\n'], ...whole.slice(1)]],
    ['rows that PostgreSQL refuses', withRows('nonsense\n')],
    ['no rows that PostgreSQL could read', withRows('\0\xff\n')],
    ['many rows behind one that PostgreSQL refuses', withRows('nonsense\n'.repeat(1_000_000))],
    ['fewer rows than it says', (whole) => whole.filter(([mark]) => mark !== 'R')],
    ['200,000 empty parts', (whole) => [whole[0]!, ...new Array<Part>(200_000).fill(['R', ''])]],
    ['no manifest in its manifest', (whole) => [['M', {}], ...whole.slice(1)]],
    ['brackets instead of a manifest', () => [['M', '['.repeat(30_000_000)]]],
    ['a day that is a statement', withManifest({ days: ['0; DROP TABLE accounts'] })],
    ['a million days', withManifest({ days: Array.from({ length: 1_000_000 }, (_, n) => n) })],
    ['a day in the year 27,000', withManifest({ days: [9_000_000] })],
    ['migrations that are no list', withManifest({ migrations: { length: 1 } })],
    ['a secret of no kind', withManifest({ secret: { kind: '__proto__' } })],
    ['a part of 4 GB', (whole) => [whole[0]!, ['R', '', 0xff_ff_ff_ff]]],
  ])('from a stranger is refused: %s', async (_, change) => {
    const strange = join(folder, 'strange.backup');
    writeFileSync(strange, fileOf(change(partsOf(readFileSync(file)))));
    await expect(restoring(strange)).rejects.toThrow(/is not a complete backup of Sandmartin/);
  });

  it('of a newer version is refused', async () => {
    const text = gunzipSync(readFileSync(file)).toString('latin1');
    const newer = text.replace(/"migrations":\[\d+/, (found) => `${found.slice(0, -1)}9`);
    expect(newer).not.toBe(text);
    const path = variant('newer', gzipSync(Buffer.from(newer, 'latin1')));
    await expect(restoring(path)).rejects.toThrow(/newer than this one/);
  });

  it('is never written over', async () => {
    const size = statSync(file).size;
    await expect(writeBackup(before.databaseUrl, file, PASSPHRASE)).rejects.toThrow(
      /already exists/,
    );
    expect(statSync(file).size).toBe(size);
  });
});

describe('before an upgrade of the embedded database', () => {
  it('a backup is taken that the version before can go back to; a new database needs none', async () => {
    const test = await createTestDatabase({ empty: true });
    const dataDir = join(folder, 'data');
    const said: string[] = [];
    const embedded = { dataDir, url: test.url, log: (line: string) => void said.push(line) };
    await migrate(test.database, undefined, readMigrations().slice(0, 1));
    await test.database.query(`INSERT INTO accounts (name, plan) VALUES ('Of before', 'paid')`);
    await upgrade(test.database, embedded);
    const [backup, ...rest] = readdirSync(join(dataDir, 'backups'));
    expect(rest).toEqual(['passphrase']);
    expect(said.join()).toContain(backup);
    // Now it is up to date.
    await upgrade(test.database, embedded);
    expect(readdirSync(join(dataDir, 'backups'))).toHaveLength(2);
    await test.drop();

    const passphrase = readFileSync(join(dataDir, 'backups', 'passphrase'), 'utf8');
    const { test: again } = await restoring(join(dataDir, 'backups', backup!), { passphrase });
    expect(await again.database.query('SELECT name FROM accounts')).toEqual([
      { name: 'Of before' },
    ]);
    await again.drop();
  });

  it('one that cannot be taken stops the upgrade, and nothing is changed', async () => {
    const test = await createTestDatabase({ empty: true });
    await migrate(test.database, undefined, readMigrations().slice(0, 1));
    const embedded = { dataDir: join(file, 'no folder'), url: test.url, log: () => undefined };
    await expect(upgrade(test.database, embedded)).rejects.toThrow(
      /must be backed up .* Nothing was changed/,
    );
    expect(await test.database.query('SELECT version FROM schema_migrations')).toEqual([
      { version: 1 },
    ]);
    await test.drop();
  });
});

/** A part of a file: its mark, what it says, and its length where that is not what it says. */
type Part = [mark: string, said: Record<string, unknown> | string | Buffer, length?: number];
const COLUMN = 'name") FROM STDIN; CREATE TABLE planted (); --';

const isTable = (part: Part): part is ['T', { name: string }] => part[0] === 'T';

function renamed(name: string) {
  return (whole: Part[]): Part[] =>
    whole.map((part) => (isTable(part) ? ['T', { ...part[1], name }] : part));
}

/** In the first table. */
function withRows(rows: string) {
  return (whole: Part[]): Part[] => {
    const at = whole.findIndex(isTable) + 1;
    return [...whole.slice(0, at), ['R', Buffer.from(rows, 'latin1')], ...whole.slice(at)];
  };
}

function withManifest(changes: Record<string, unknown>) {
  return ([first, ...rest]: Part[]): Part[] => {
    const { manifest } = first![1] as { manifest: Record<string, unknown> };
    return [['M', { manifest: { ...manifest, ...changes } }], ...rest];
  };
}

function partsOf(backup: Buffer): Part[] {
  const bytes = gunzipSync(backup);
  const parts: Part[] = [];
  for (let at = 'sandmartin backup 1\n'.length; at < bytes.length; ) {
    const mark = bytes.toString('latin1', at, at + 1);
    const said = bytes.subarray(at + 5, at + 5 + bytes.readUInt32BE(at + 1));
    parts.push([mark, mark === 'R' ? said : JSON.parse(said.toString())]);
    at += 5 + said.length;
  }
  return parts;
}

function fileOf(parts: Part[]): Buffer {
  const bytes = parts.flatMap(([mark, said, length]) => {
    const plain = typeof said === 'string' || Buffer.isBuffer(said);
    const body = plain ? Buffer.from(said) : Buffer.from(JSON.stringify(said));
    const head = Buffer.alloc(5, mark);
    head.writeUInt32BE(length ?? body.length, 1);
    return [head, body];
  });
  return gzipSync(Buffer.concat([Buffer.from('sandmartin backup 1\n'), ...bytes]), { level: 1 });
}

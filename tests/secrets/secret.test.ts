// SECRET_KEY over the life of an installation: set late, wrong, removed, rotated, lost; one process
// and several at once.
import { generateKeyPairSync, hkdfSync } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { keyLabel, openDomainKey } from '../../src/accounts/domain-keys.ts';
import { checkSealed, openSecret as open, rotateSecret } from '../../src/roles/secrets.ts';
import { type Secret, watchSecret } from '../../src/store/installation.ts';
import { type Database, openDatabase, type Queryable } from '../../src/store/pool.ts';
import { seal } from '../../src/store/sealing.ts';
import { readWith } from '../../src/store/token-keys.ts';
import { makeToken, readToken } from '../../src/tracking/token.ts';
import { openSecretWith } from '../../src/webhooks/endpoint-secrets.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { countLockWaits } from '../support/lock-waits.ts';
import { makeAccount } from '../support/service.ts';
import { until } from '../support/until.ts';
import { newEndpoint } from '../webhooks/webhook-support.ts';

const FIRST = 'the first secret of this installation';
const SECOND = 'the second secret of this installation';
const THIRD = 'the third secret of this installation';

/** As a process that starts does. */
const openSecret = (on: Database, secretKey: string | undefined) => open(on, secretKey, 'start');

let test: TestDatabase;
let database: Database;
beforeEach(async () => {
  test = await createTestDatabase();
  ({ database } = test);
});
afterEach(() => test.drop());

const rotate = (to: string, from?: string, wish: { lost?: boolean; days?: number } = {}) =>
  rotateSecret(database, {
    to,
    from,
    lost: wish.lost ?? false,
    oldLinksDays: wish.days ?? 730,
    dryRun: false,
  });

/**
 * A domain as addDomain makes it, but with keys that are made in no time: an RSA key takes a second
 * of CPU.
 */
async function addKeys(secret: Secret, domain: string): Promise<void> {
  const { id } = await makeAccount(database, { identities: [domain] });
  await database.transaction(async (client) => {
    const rsa = await sealedKey(client, secret, 'rsa', id, domain);
    const ed = await sealedKey(client, secret, 'ed25519', id, domain);
    await insertDomain(client, id, domain, [rsa, ed]);
  });
}

const sealedKey = (
  client: Queryable,
  { vault }: Secret,
  kind: 'rsa' | 'ed25519',
  accountId: number,
  domain: string,
) =>
  vault.seal(
    client,
    keyLabel(kind, { accountId, domain, selector: 'sm1' }),
    generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'der' }),
  );

const insertDomain = (client: Queryable, id: number, domain: string, sealed: Buffer[]) =>
  client.query(
    `INSERT INTO domains (account_id, domain, challenge, selector, rsa_public, rsa_private, ed25519_public, ed25519_private)
     VALUES ($1, $2, '', 'sm1', '', $3, '', $4)`,
    [id, domain, ...sealed],
  );

/** Opens both keys of a domain as delivery does. */
async function openKeys({ vault }: Secret, domain: string): Promise<void> {
  const [row] = await database.query<{ id: number; selector: string; rsa: Buffer; ed: Buffer }>(
    `SELECT account_id AS id, selector, rsa_private AS rsa, ed25519_private AS ed FROM domains WHERE domain = $1`,
    [domain],
  );
  const of = { accountId: row!.id, domain, selector: row!.selector };
  openDomainKey(vault, 'rsa', of, row!.rsa);
  openDomainKey(vault, 'ed25519', of, row!.ed);
}

/** An endpoint of the installation while it has no SECRET_KEY. */
async function addHook(): Promise<{ uuid: string; accountId: number; secret: string }> {
  const { id } = await makeAccount(database, { identities: [] });
  const made = await newEndpoint(database, id, { url: 'https://hooks.example.com/' });
  return { ...made, accountId: id };
}

async function hookSecret({ vault }: Secret, hook: { uuid: string; accountId: number }) {
  const [row] = await database.query<{ secret: Buffer }>(
    'SELECT secret FROM webhook_endpoints WHERE id = $1',
    [hook.uuid],
  );
  const owner = { accountId: hook.accountId, endpointUuid: hook.uuid };
  return openSecretWith(vault)(owner, row!.secret);
}

const HOUR_MS = 3_600_000;
function linkOf(secret: Secret): string {
  const expiresMs = Date.now() + HOUR_MS;
  const token = { kind: 'click', accountId: 1, index: 0, place: 0 } as const;
  const messageId = Buffer.alloc(16);
  const url = 'https://example.com/';
  return makeToken(secret.tokenKeys('tracking')[0], { ...token, messageId, expiresMs, url });
}
const understands = (secret: Secret, link: string): boolean =>
  readWith(secret.tokenKeys('tracking'), (key) => readToken(key, link, Date.now())) !== undefined;

const sealedState = () =>
  database.query(
    `SELECT rsa_private, ed25519_private, (SELECT secret FROM webhook_endpoints) AS hook,
            (SELECT to_jsonb(i) FROM installation i) AS installation FROM domains`,
  );

describe('SECRET_KEY set the first time', () => {
  it('seals again what lies there, and old links stay good', async () => {
    const before = await openSecret(database, undefined);
    await addKeys(before, 'example.com');
    const hook = await addHook();
    const link = linkOf(before);

    const after = await openSecret(database, FIRST);
    await openKeys(after, 'example.com');
    expect(await hookSecret(after, hook)).toBe(hook.secret);
    expect(understands(after, link)).toBe(true);
    expect(understands(after, linkOf(after))).toBe(true);
    expect(understands(before, linkOf(after))).toBe(false);
    // What opened it before is nowhere any more.
    await expect(openKeys(before, 'example.com')).rejects.toThrow(/DKIM key of example.com/);
    expect(await database.query('SELECT secret FROM installation')).toEqual([{ secret: null }]);
    expect(await checkSealed(database, after)).toEqual({ total: 4, stranded: [] });
  });

  it('is done once by processes that start at once', async () => {
    await addKeys(await openSecret(database, undefined), 'example.com');
    const pools = Array.from({ length: 6 }, () =>
      openDatabase(test.url, { connections: 1, onIdleError: () => undefined }),
    );
    const opened = await Promise.all(pools.map((pool) => openSecret(pool, FIRST)));
    for (const secret of opened) await openKeys(secret, 'example.com');
    await Promise.all(pools.map((pool) => pool.close()));
  });

  it('of two different ones at once the first wins, the other is refused', async () => {
    await addKeys(await openSecret(database, undefined), 'example.com');
    const both = await Promise.allSettled([
      openSecret(database, FIRST),
      openSecret(database, SECOND),
    ]);
    const [won] = both.filter((it) => it.status === 'fulfilled');
    const [lost] = both.filter((it) => it.status === 'rejected');
    await openKeys(won!.value, 'example.com');
    expect(lost!.reason.detail).toContain('SECRET_KEY is not the one this installation uses');
  });

  it('is refused, and nothing changed, when something opens with neither', async () => {
    const own = await openSecret(database, undefined);
    await addKeys(own, 'example.com');
    await addKeys(own, 'damaged.example');
    await database.query(
      `UPDATE domains SET rsa_private = ed25519_private WHERE domain = 'damaged.example'`,
    );
    await expect(openSecret(database, FIRST)).rejects.toThrow(/DKIM key of damaged.example \(rsa/);
    await openKeys(await openSecret(database, undefined), 'example.com');
  });
});

describe('a command with a SECRET_KEY', () => {
  it('does not bring it into force where processes run with another secret', async () => {
    const own = await openSecret(database, undefined);
    await addKeys(own, 'example.com');
    await expect(open(database, FIRST)).rejects.toThrow(/still uses a secret of its own/);
    expect(await own.vault.isInForce(database)).toBe(true);
    await openSecret(database, FIRST);
    await openKeys(await open(database, FIRST), 'example.com');
  });

  it('brings it into force where nothing ever ran', async () => {
    await addKeys(await open(database, FIRST), 'example.com');
    await openKeys(await openSecret(database, FIRST), 'example.com');
  });
});

describe('a SECRET_KEY that does not fit', () => {
  it('is refused with the reason and what to do, and nothing is touched', async () => {
    await addKeys(await openSecret(database, FIRST), 'example.com');
    const before = await sealedState();
    await expect(openSecret(database, SECOND)).rejects.toThrow(
      /not the one this installation uses.*secret rotate/,
    );
    await expect(openSecret(database, undefined)).rejects.toThrow(
      /SECRET_KEY is not set, but this installation has one/,
    );
    expect(await sealedState()).toEqual(before);
    await openKeys(await openSecret(database, FIRST), 'example.com');
  });

  it('is also known where no verifier was kept: by what is sealed', async () => {
    await addKeys(await openSecret(database, FIRST), 'example.com');
    await database.query('DELETE FROM installation');
    await expect(openSecret(database, SECOND)).rejects.toThrow(/DKIM key of example.com/);
    await expect(openSecret(database, undefined)).rejects.toThrow(/SECRET_KEY is not set/);
    await openKeys(await openSecret(database, FIRST), 'example.com');
  });

  it('that was set without resealing, as older versions let one do, is healed', async () => {
    await addKeys(await openSecret(database, undefined), 'old.example');
    const [own] = await database.query<{ secret: Buffer; rsa: Buffer; ed: Buffer }>(
      'SELECT secret, rsa_private AS rsa, ed25519_private AS ed FROM installation, domains',
    );
    await addKeys(await openSecret(database, FIRST), 'new.example');
    // As it was then: one domain under the installation's own secret, one under SECRET_KEY, and
    // nothing that tells.
    await database.query(
      `UPDATE domains SET rsa_private = $1, ed25519_private = $2 WHERE domain = 'old.example'`,
      [own!.rsa, own!.ed],
    );
    await database.query('UPDATE installation SET secret = $1, verifier = NULL', [own!.secret]);

    await expect(openSecret(database, SECOND)).rejects.toThrow(/DKIM key of new.example/);
    const healed = await openSecret(database, FIRST);
    await openKeys(healed, 'old.example');
    await openKeys(healed, 'new.example');
  });
});

describe('rotation', () => {
  it('seals all again, and understands links of the secrets before, also of the one before that', async () => {
    const hook = await addHook();
    const first = await openSecret(database, FIRST);
    await addKeys(first, 'example.com');
    const links = [linkOf(first)];

    const rotation = await rotate(SECOND, FIRST);
    expect(rotation).toMatchObject({ stranded: [], resealed: 4 });
    const second = await openSecret(database, SECOND);
    links.push(linkOf(second));
    await rotate(THIRD, SECOND);
    const third = await openSecret(database, THIRD);

    await openKeys(third, 'example.com');
    expect(await hookSecret(third, hook)).toBe(hook.secret);
    for (const link of links) expect(understands(third, link)).toBe(true);
    expect(third.tokenKeys('return-path')).toContainEqual(first.tokenKeys('return-path')[0]);
    expect(await checkSealed(database, third)).toMatchObject({ stranded: [] });
    await expect(openSecret(database, FIRST)).rejects.toThrow(/is the one from before 20/);
  });

  it('voids old links at once when it is told to, and after their days by itself', async () => {
    const first = await openSecret(database, FIRST);
    await rotate(SECOND, FIRST);
    expect(understands(await openSecret(database, SECOND), linkOf(first))).toBe(true);
    await database.query(`UPDATE previous_secrets SET valid_until = now() - interval '1 second'`);
    expect(understands(await openSecret(database, SECOND), linkOf(first))).toBe(false);

    const second = await openSecret(database, SECOND);
    await rotate(THIRD, SECOND, { days: 0 });
    expect(understands(await openSecret(database, THIRD), linkOf(second))).toBe(false);
  });

  it('wants the secret in force, and says so', async () => {
    await addKeys(await openSecret(database, FIRST), 'example.com');
    const before = await sealedState();
    await expect(rotate(SECOND)).rejects.toThrow(/OLD_SECRET_KEY/);
    await expect(rotate(SECOND, THIRD)).rejects.toThrow(/old secret is not the one/);
    await expect(rotate(FIRST, FIRST)).rejects.toThrow(/already the one in force/);
    expect(await sealedState()).toEqual(before);
  });

  it('goes on without a lost secret; what only that one opened is named', async () => {
    await addKeys(await openSecret(database, FIRST), 'example.com');
    const { stranded } = await rotate(SECOND, undefined, { lost: true });
    expect(stranded).toEqual([
      expect.stringContaining('The DKIM key of example.com (rsa'),
      expect.stringContaining('The DKIM key of example.com (ed25519'),
    ]);
    const second = await openSecret(database, SECOND);
    await addKeys(second, 'new.example');
    await openKeys(second, 'new.example');
    expect((await checkSealed(database, second)).stranded).toEqual(stranded);
  });

  it('waits for what is being sealed, and seals it again; afterwards the old process seals nothing', async () => {
    const first = await openSecret(database, FIRST);
    await addKeys(first, 'example.com');
    const { id } = await makeAccount(database, { identities: ['late.example'] });
    let rotating: Promise<unknown> | undefined;
    await database.transaction(async (client) => {
      const rsa = await sealedKey(client, first, 'rsa', id, 'late.example');
      const ed = await sealedKey(client, first, 'ed25519', id, 'late.example');
      rotating = rotate(SECOND, FIRST);
      await until(async () => (await countLockWaits(database)) > 0);
      await insertDomain(client, id, 'late.example', [rsa, ed]);
    });
    expect(await rotating).toMatchObject({ resealed: 4, stranded: [] });
    await openKeys(await openSecret(database, SECOND), 'late.example');
    await expect(addKeys(first, 'refused.example')).rejects.toThrow(/changed while this process/);
    await openKeys(await openSecret(database, SECOND), 'example.com');
  });

  it('is noticed by a process that runs', async () => {
    const first = await openSecret(database, FIRST);
    let told = '';
    const watch = watchSecret(database, first, (why) => {
      told = why;
    });
    await rotate(SECOND, FIRST);
    await until(() => told !== '');
    expect(told).toContain('start it again with the new SECRET_KEY');
    await watch.close();
  });
});

describe('an upgrade', () => {
  it('seals the secrets of webhooks that lay plain, and reads the keys of domains as before', async () => {
    const old = await createTestDatabase();
    try {
      const [account] = await old.database.query<{ id: number }>(
        `INSERT INTO accounts (name, plan) VALUES ('Old', 'paid') RETURNING id`,
      );
      await old.database.query(
        `INSERT INTO webhook_endpoints (account_id, id, url, secret, previous_secret, previous_until)
         VALUES ($1, gen_random_uuid(), 'https://example.com/', '\\x00'::bytea || 'whsec_bmV3', '\\x00'::bytea || 'whsec_b2xk', now())`,
        [account!.id],
      );
      // Of an installation that has no verifier yet: under the key of the secret in the table.
      const own = Buffer.alloc(32, 7);
      const key = Buffer.from(hkdfSync('sha256', own, '', 'sandmartin encryption', 32));
      const of = { accountId: account!.id, domain: 'old.example', selector: 'sm1' };
      const der = generateKeyPairSync('ed25519').privateKey.export({
        type: 'pkcs8',
        format: 'der',
      });
      const [rsa, ed] = (['rsa', 'ed25519'] as const).map((kind) =>
        seal(key, keyLabel(kind, of), der),
      );
      await old.database.query('INSERT INTO installation (secret) VALUES ($1)', [own]);
      await old.database.query(`INSERT INTO identities (account_id, value) VALUES ($1, $2)`, [
        of.accountId,
        of.domain,
      ]);
      await insertDomain(old.database, of.accountId, of.domain, [rsa!, ed!]);

      const { vault } = await openSecret(old.database, undefined);
      const [sealed] = await old.database.query<{ rsa: Buffer }>(
        'SELECT rsa_private AS rsa FROM domains',
      );
      openDomainKey(vault, 'rsa', of, sealed!.rsa);
      const [row] = await old.database.query<{ id: string; secret: Buffer; previous: Buffer }>(
        'SELECT id, secret, previous_secret AS previous FROM webhook_endpoints',
      );
      expect(row!.secret.toString('latin1')).not.toContain('whsec_');
      expect(row!.previous.toString('latin1')).not.toContain('whsec_');
      const openHook = openSecretWith(vault);
      const owner = { accountId: account!.id, endpointUuid: row!.id };
      expect(openHook(owner, row!.secret)).toBe('whsec_bmV3');
      expect(openHook(owner, row!.previous)).toBe('whsec_b2xk');
      expect(() => openHook({ ...owner, accountId: 99 }, row!.secret)).toThrow(/SECRET_KEY/);
    } finally {
      await old.drop();
    }
  });
});

// Every change to what processes remember about an account raises its version: that is how a
// revoked key or a removed sender becomes known everywhere. No trigger does it, so each statement
// must.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { changeAccount, createAccount } from '../../src/accounts/accounts.ts';
import { makeAddressToken, verifyAddress } from '../../src/accounts/address-verification.ts';
import { addIdentity, removeIdentity, verifyIdentity } from '../../src/accounts/identities.ts';
import { createKey, revokeKey } from '../../src/accounts/keys.ts';
import { pauseAccount } from '../../src/accounts/pause.ts';
import { resumeAccount, suspendAccount } from '../../src/accounts/suspension.ts';
import { systemClock } from '../../src/process/clock.ts';
import { setBranding } from '../../src/templates/account-branding.ts';
import { archiveTemplate } from '../../src/templates/account-templates.ts';
import { saveTemplate } from '../../src/templates/stored-templates.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let own: TestDatabase;
beforeAll(async () => {
  own = await createTestDatabase();
});
afterAll(() => own.drop());

it('every change that processes must hear of raises the version of its account, and of no other', async () => {
  const { database } = own;
  const { id } = await createAccount(database, { name: 'Changing', plan: 'paid' });
  const other = await createAccount(database, { name: 'Quiet', plan: 'paid' });
  const about = { name: 'A', category: 'account', description: '', stream: null } as const;
  let keyId = '';
  const changes: [string, () => Promise<unknown>][] = [
    ['account', () => changeAccount(database, id, { name: 'Changed' })],
    ['suspend', () => suspendAccount(database, id, 'spam')],
    ['pause', () => pauseAccount(database, id, 'bounces')],
    ['resume', () => resumeAccount(database, id)],
    [
      'new key',
      async () => {
        const wanted = { accountId: id, scopes: ['email:send'] } as const;
        keyId = (await createKey(database, systemClock, wanted)).id;
      },
    ],
    ['revoked key', () => revokeKey(database, id, keyId)],
    ['new sender', () => addIdentity(database, id, 'a@example.com', false)],
    ['verified sender', () => verifyIdentity(database, id, 'a@example.com')],
    ['removed sender', () => removeIdentity(database, id, 'a@example.com')],
    ['new address', () => addIdentity(database, id, 'b@example.com', false)],
    [
      'verified by link',
      async () => verifyAddress(database, await makeAddressToken(database, id, 'b@example.com')),
    ],
    ['branding', () => setBranding(database, id, { brand_name: 'Example' })],
    ['saved template', () => saveTemplate(database, id, 'hello', about)],
    ['archived template', () => archiveTemplate(database, id, 'hello')],
  ];
  const before = await versionOf(other.id);
  for (const [what, change] of changes) {
    const was = await versionOf(id);
    await change();
    expect(await versionOf(id), what).toBeGreaterThan(was);
  }
  expect(await versionOf(other.id)).toBe(before);
});

async function versionOf(id: number): Promise<number> {
  const [row] = await own.database.query<{ version: number }>(
    'SELECT version FROM accounts WHERE id = $1',
    [id],
  );
  return row!.version;
}

// Second factors and sessions in a real browser, with Chromium's own authenticator: added, used to
// sign in, required by an account. And two tabs of one session, one of which switches accounts.
import type { Page } from 'playwright-core';
import { afterAll, describe, expect, it } from 'vitest';
import { codeNext, codeNow, fromBase32 } from '../dashboard/app-codes.ts';
import { freePort } from '../support/process.ts';
import { look, openDashboard, PASSWORD } from './dashboard.ts';

const port = await freePort();
// By name: an IP address has no passkeys.
const dashboard = await openDashboard({
  PORT: String(port),
  BASE_URL: `http://localhost:${port}`,
});
afterAll(() => dashboard?.stop());

/** A device that has a fingerprint reader and keeps passkeys. */
async function withAuthenticator(page: Page): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
}

const emailOf = async (page: Page): Promise<string> =>
  (await page
    .getByText(/user\d+@people\.example/)
    .first()
    .textContent())!.match(/user\S+/)![0];

async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: /User of/ }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
}

async function saveCodes(page: Page): Promise<string[]> {
  const codes = page.getByTestId('recovery-codes').locator('code');
  await codes.first().waitFor();
  // Escape does not throw away what is shown once.
  await page.keyboard.press('Escape');
  const saved = await codes.allTextContents();
  await page.getByLabel('I have saved them').check();
  await page.getByRole('button', { name: 'Done' }).click();
  return saved;
}

async function givePassword(page: Page, email: string): Promise<void> {
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('heading', { name: 'One more step' }).waitFor();
}

describe.skipIf(!dashboard)('A second factor', () => {
  it('a passkey is added, signs in alone, and stands beside the password', async () => {
    const { service, open } = dashboard!;
    const account = await service.account();
    const page = await open({ accountId: account.id, role: 'owner' });
    await withAuthenticator(page);
    await page.goto('/profile');
    const email = await emailOf(page);
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    await page.getByLabel('Name').fill('This laptop');
    await page.getByRole('button', { name: 'Continue' }).click();
    const [code] = await saveCodes(page);
    await page.getByText('This laptop').waitFor();
    await page.getByText('10 of 10 left').waitFor();
    await look(page, 'profile');
    await signOut(page);
    await look(page, 'sign-in-passkey');
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.getByRole('button', { name: /User of/ }).waitFor();
    await signOut(page);
    await givePassword(page, email);
    await look(page, 'second-factor');
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    await page.getByRole('button', { name: /User of/ }).waitFor();
    await signOut(page);
    await givePassword(page, email);
    await page.getByLabel('Recovery code').fill(code!);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('button', { name: /User of/ }).waitFor();
    await page.goto('/profile');
    await page.getByText('9 of 10 left').waitFor();
    await page.getByRole('button', { name: 'Remove This laptop' }).click();
    await page.getByRole('button', { name: 'Remove the passkey' }).click();
    await page.getByText('Create new codes').waitFor({ state: 'detached' });
  });

  it('an app is set up by its code, and asked for where a session ended under a page', async () => {
    const { service, open } = dashboard!;
    const account = await service.account();
    const page = await open({ accountId: account.id, role: 'owner' });
    await page.goto('/profile');
    const email = await emailOf(page);
    // A while ago: the password is asked for first.
    await service.database.query(`UPDATE sessions SET proved_at = '-infinity'`);
    await page.reload();
    await page.getByRole('button', { name: 'Set up an app' }).click();
    const proof = page.getByRole('dialog', { name: 'Confirm it is you' });
    await proof.getByLabel('Password', { exact: true }).fill('wrong');
    await proof.getByRole('button', { name: 'Continue' }).click();
    await proof.getByText('this is not your password').waitFor();
    await look(page, 'proof');
    await proof.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await proof.getByRole('button', { name: 'Continue' }).click();
    const dialog = page.getByRole('dialog', { name: 'Set up an authenticator app' });
    await dialog.getByRole('img', { name: 'QR code for the app' }).waitFor();
    const secret = fromBase32((await dialog.locator('code').textContent())!);
    await look(page, 'authenticator-app');
    await dialog.getByLabel('Code').fill(codeNow(secret));
    await dialog.getByRole('button', { name: 'Turn it on' }).click();
    await look(page, 'recovery-codes');
    await saveCodes(page);
    // The session ends elsewhere; the page stays, and asks for both.
    await service.database.query(
      'DELETE FROM sessions WHERE user_id = (SELECT id FROM users WHERE email = $1)',
      [email],
    );
    await page.getByRole('link', { name: 'API keys', exact: true }).click();
    const again = page.getByRole('dialog', { name: 'Your session has ended' });
    await again.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await again.getByRole('button', { name: 'Sign in', exact: true }).click();
    await again.getByLabel('Code').fill(codeNext(secret));
    await again.getByRole('button', { name: 'Continue' }).click();
    await again.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Create a key' }).first().waitFor();
  });

  it('an account asks everyone for one: others set it up before they go on', async () => {
    const { service, open } = dashboard!;
    const account = await service.account();
    const owner = await open({ accountId: account.id, role: 'owner' });
    await withAuthenticator(owner);
    const member = await open({ accountId: account.id, role: 'developer' });
    await withAuthenticator(member);
    await owner.goto('/account');
    await owner.getByLabel('Require a second factor for everyone').click();
    await owner.getByText('Add a second factor of your own first').waitFor();
    await owner.goto('/profile');
    await owner.getByRole('button', { name: 'Add a passkey' }).click();
    await owner.getByLabel('Name').fill('Key');
    await owner.getByRole('button', { name: 'Continue' }).click();
    await saveCodes(owner);
    await owner.goto('/account');
    await owner.getByLabel('Require a second factor for everyone').click();
    await expect
      .poll(() => owner.getByLabel('Require a second factor for everyone').isChecked())
      .toBe(true);
    await look(owner, 'account-second-factor');
    await member.goto('/messages');
    await member.getByText('requires a second factor').waitFor();
    expect(new URL(member.url()).pathname).toBe('/profile');
    await look(member, 'locked');
    await member.getByRole('button', { name: 'Add a passkey' }).click();
    await member.getByLabel('Name').fill('Phone');
    await member.getByRole('button', { name: 'Continue' }).click();
    await saveCodes(member);
    await member.getByText('requires a second factor').waitFor({ state: 'detached' });
    await member.getByRole('link', { name: 'Messages', exact: true }).click();
    // It was told by email, which the account sent.
    await member.getByText('Two-factor sign-in is on').first().waitFor();
    await owner.goto('/team');
    await expect.poll(() => owner.getByText('second factor').count()).toBe(2);
  });

  it('sessions are listed and ended one by one', async () => {
    const { service, open } = dashboard!;
    const account = await service.account();
    const page = await open({ accountId: account.id, role: 'viewer' });
    await page.goto('/profile');
    const email = await emailOf(page);
    await service.database.query(
      `INSERT INTO sessions (id, user_id, hash, device, ip_address)
       SELECT gen_random_uuid(), id, sha256('x'), 'Safari on iOS', '192.0.2.9' FROM users WHERE email = $1`,
      [email],
    );
    await page.reload();
    await page.getByText('192.0.2.9').waitFor();
    await look(page, 'sessions');
    await page.getByRole('button', { name: 'Sign out on Safari on iOS' }).click();
    await page.getByText('192.0.2.9').waitFor({ state: 'detached' });
  });
});

describe.skipIf(!dashboard)('Two tabs of one session', () => {
  it('what one writes after the other switched the account is refused, and goes on where one says', async () => {
    const { service, open } = dashboard!;
    const [one, other] = [await service.account(), await service.account()];
    await service.database.query(
      `UPDATE accounts SET name = CASE id WHEN $1 THEN 'Alder' ELSE 'Birch' END WHERE id IN ($1, $2)`,
      [one.id, other.id],
    );
    const first = await open({ accountId: one.id, role: 'owner' });
    await service.database.query(
      `INSERT INTO members (account_id, user_id, role) SELECT $2, user_id, 'owner' FROM members WHERE account_id = $1`,
      [one.id, other.id],
    );
    await first.goto('/suppressions');
    await first.getByText('Nobody is suppressed').waitFor();
    const second = await first.context().newPage();
    await second.goto('/');
    await second.getByRole('button', { name: 'Alder Owner' }).click();
    await second.getByRole('menuitem', { name: 'Birch' }).click();
    await second.getByRole('button', { name: 'Birch Owner' }).waitFor();
    await first.getByRole('button', { name: 'Add addresses' }).first().click();
    await first.getByRole('textbox', { name: 'Addresses' }).fill('ada@example.net');
    await first.getByRole('dialog').getByRole('button', { name: 'Suppress' }).click();
    const dialog = first.getByRole('dialog', { name: 'You are in another account now' });
    await dialog.waitFor();
    await look(first, 'other-account');
    const written = () => service.database.query('SELECT account_id FROM suppressions');
    expect(await written()).toEqual([]);
    await dialog.getByRole('button', { name: 'Continue in Alder' }).click();
    await dialog.waitFor({ state: 'detached' });
    await first.getByRole('dialog').getByRole('button', { name: 'Suppress' }).click();
    await first.getByText('ada@example.net').first().waitFor();
    expect(await written()).toEqual([{ account_id: one.id }]);
    // Now the other tab is the one that is behind: what it reads again and again tells it, and it
    // leaves.
    await second
      .getByRole('dialog', { name: 'You are in another account now' })
      .getByRole('button', { name: 'Leave this page' })
      .click();
    await second.getByRole('button', { name: 'Alder Owner' }).waitFor();

    // A new session begins in the first account. Where the way back to the page's own fails,
    // nothing of it goes there.
    await second.getByRole('button', { name: 'Alder Owner' }).click();
    await second.getByRole('menuitem', { name: 'Birch' }).click();
    await second.getByRole('button', { name: 'Birch Owner' }).waitFor();
    await first.close();
    await second.goto('/suppressions');
    await second.getByText('Nobody is suppressed').waitFor();
    await service.database.query('DELETE FROM sessions');
    await second.route('**/session/account', (route) => route.fulfill({ status: 503 }), {
      times: 1,
    });
    await second.getByRole('button', { name: 'Add addresses' }).first().click();
    await second.getByRole('textbox', { name: 'Addresses' }).fill('bo@example.net');
    await second.getByRole('dialog').getByRole('button', { name: 'Suppress' }).click();
    const ended = second.getByRole('dialog', { name: 'Your session has ended' });
    await ended.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
    await ended.getByRole('button', { name: 'Sign in', exact: true }).click();
    await second.getByRole('button', { name: 'Continue in Birch' }).click();
    // What was refused meanwhile is not told: it was asked about.
    await expect.poll(() => second.getByRole('dialog').count()).toBe(1);
    expect(await second.getByRole('dialog').getByRole('alert').count()).toBe(0);
    await second.getByRole('dialog').getByRole('button', { name: 'Suppress' }).click();
    await second.getByText('bo@example.net').first().waitFor();
    expect(await written()).toEqual([{ account_id: one.id }, { account_id: other.id }]);
  });
});

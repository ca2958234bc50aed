// Editing safely: what is typed is what is shown, nobody's work is lost or published unseen, and
// what is published was tested on emails that were really sent.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { TestAccount } from '../support/service.ts';
import { findings, look, openDashboard, PASSWORD, screenshot, told } from './dashboard.ts';

const dashboard = await openDashboard();
const opened: Page[] = [];
afterAll(() => dashboard?.stop());
// Open editors render as long as they are open.
afterEach(() => Promise.all(opened.splice(0).map((page) => page.context().close())));

const LINES = [
  '<p>Hello {{ name }}</p>',
  '<p>One</p>',
  '<p>Two</p>',
  '<p>Three</p>',
  '<p>Four</p>',
  '<p>Bye</p>',
];

/** An account with a published template `note`, and someone who edits it. */
async function openEditor(): Promise<{ account: TestAccount; page: Page }> {
  const account = await dashboard!.service.account({ scopes: ['email:send', 'admin'] });
  const variables = ['name', 'plan'].map((name) => ({ name, required: false }));
  const html = LINES.join('\n');
  await put(account, { subject: 'Note', html, variables, sample: { name: 'Ada' } });
  await call(account, 'POST', '/v1/templates/note/publish', { version: 1 });
  return { account, page: await openAgain(account) };
}

async function openAgain(account: TestAccount): Promise<Page> {
  const page = await dashboard!.open({ accountId: account.id, role: 'developer' });
  opened.push(page);
  await page.goto('/templates/note/edit');
  await page.frameLocator('iframe[title="Live preview"]').getByText('Hello Ada').waitFor();
  return page;
}

const put = (account: TestAccount, template: object) =>
  call(account, 'PUT', '/v1/templates/note', template);

async function call(account: TestAccount, method: string, path: string, body?: object) {
  const answer = await fetch(`${dashboard!.url}${path}`, {
    method,
    headers: { 'x-api-key': account.key, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  expect(answer.status).toBeLessThan(300);
  // biome-ignore lint/suspicious/noExplicitAny: what an answer holds is what the tests are about
  return (await answer.json()) as any;
}

const htmlOf = async (account: TestAccount, version: number | string): Promise<string> =>
  (await call(account, 'GET', `/v1/templates/note/versions/${version}`)).html;

/** Replaces a line by typing. */
async function typeLine(page: Page, before: string, after: string): Promise<void> {
  const editor = page.getByRole('textbox', { name: 'HTML source' });
  await editor
    .locator('.cm-line')
    .filter({ hasText: `<p>${before}</p>` })
    .click();
  // Typed over, Chromium would keep the colours by a style of its own, which the page's policy
  // forbids.
  for (const key of ['Home', 'Shift+End', 'Delete']) await page.keyboard.press(key);
  await page.keyboard.type(after);
}

describe.skipIf(!dashboard)('The editor', () => {
  it('chooses the stream of a template, which holds at once', async () => {
    const { account, page } = await openEditor();
    await call(account, 'PUT', '/v1/streams/news', { kind: 'broadcast', title: 'News' });
    await page.reload();
    await page.getByRole('tab', { name: 'Details' }).click();
    await page.getByRole('combobox', { name: 'Stream' }).click();
    await page.getByRole('option', { name: /News/ }).click();
    await look(page, 'editor-stream');
    await page.getByRole('button', { name: 'Save' }).first().click();
    await told(page, /Saved as version/);
    const newest = () => call(account, 'GET', '/v1/templates/note/versions/newest');
    expect((await newest()).stream).toBe('news');
  });

  it('leaves Jinja2 and HTML as they are typed', async () => {
    const { account, page } = await openEditor();
    const typed = `{% if x %}yes{% endif %} {{ name }} {# no #} <p title="a">it's {{ d['k'] }}</p> {{ range(x) }}`;
    await typeLine(page, 'One', typed);
    await page.getByRole('button', { name: 'Save draft' }).click();
    await told(page, 'Saved as version 2');
    expect((await htmlOf(account, 2)).split('\n')[1]).toBe(typed);
  });

  it('gives back what was not saved, after the tab was closed', async () => {
    const { account, page } = await openEditor();
    await page.getByLabel('Subject').fill('Not saved yet');
    await page.getByText('Unsaved changes').waitFor();
    await page.close();
    const again = await page.context().newPage();
    await again.goto('/templates/note/edit');
    await again.getByText('These are your unsaved changes').waitFor();
    expect(await again.getByLabel('Subject').inputValue()).toBe('Not saved yet');
    await screenshot(again, 'editor-restored');
    expect(await findings(again)).toEqual([]);
    await again.getByRole('button', { name: 'Discard them' }).click();
    expect(await again.getByLabel('Subject').inputValue()).toBe('Note');
    // Someone else in the same account has never seen it.
    const other = await openAgain(account);
    expect(await other.getByText('These are your unsaved changes').count()).toBe(0);
  });

  it('stays as it is when the template cannot be read again', async () => {
    const { page } = await openEditor();
    await page.route('**/versions/newest', (route) =>
      route.fulfill({ status: 400, json: { detail: 'Not now.' } }),
    );
    await page.getByLabel('Subject').fill('Saved, then the line was cut');
    const asked = page.waitForResponse('**/versions/newest');
    await page.getByRole('button', { name: 'Save draft' }).click();
    await asked;
    await told(page, 'Saved as version 2');
    await page.getByLabel('Subject').fill('And edited on');
    await page.getByText('Unsaved changes').waitFor();
    // Nor does it go when the service was updated meanwhile, and has no such file any more.
    await page.route('**/publish-dialog-*.js', (route) => route.fulfill({ status: 404 }));
    await page.getByRole('button', { name: 'Publish…' }).click();
    await told(page, 'A part of this page could not be loaded');
    expect(await page.getByLabel('Subject').inputValue()).toBe('And edited on');
    expect(await page.getByText('This could not be loaded').count()).toBe(0);
  });

  it('stays as it is when the session ends, and goes on after the password', async () => {
    const { account, page } = await openEditor();
    await dashboard!.service.database.query('DELETE FROM sessions');
    // The live preview is the first to notice.
    await page.getByLabel('Subject').fill('Written for hours');
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.waitFor();
    await look(page, 'session-ended');
    await dialog.getByRole('textbox', { name: 'Password' }).fill('not my password');
    await dialog.getByRole('button', { name: 'Sign in', exact: true }).click();
    await dialog.getByText('The email address or the password is wrong').waitFor();
    await dialog.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
    await dialog.getByRole('button', { name: 'Sign in', exact: true }).click();
    await dialog.waitFor({ state: 'hidden' });
    expect(await page.getByLabel('Subject').inputValue()).toBe('Written for hours');
    await page.getByRole('button', { name: 'Save draft' }).click();
    await told(page, 'Saved as version 2');
    expect((await call(account, 'GET', '/v1/templates/note/versions/2')).subject).toBe(
      'Written for hours',
    );
  });
});

describe.skipIf(!dashboard)('Two people on one template', () => {
  it('see what each changed and decide; both changes stay', async () => {
    const { account, page: mine } = await openEditor();
    const theirs = await openAgain(account);
    await typeLine(theirs, 'One', '<p>Uno</p>');
    await typeLine(theirs, 'Three', '<p>Tre</p>');
    await theirs.getByRole('button', { name: 'Save draft' }).click();
    await told(theirs, 'Saved as version 2');

    await typeLine(mine, 'Bye', '<p>Ciao</p>');
    await typeLine(mine, 'One', '<p>Eins</p>');
    await mine.getByRole('button', { name: 'Save draft' }).click();
    const dialog = mine.getByRole('dialog', { name: 'Someone else saved a version' });
    await dialog.getByText('Both of you changed the same lines in one place').waitFor();
    await look(mine, 'editor-conflict');
    await dialog.getByText('Take theirs').click();
    await dialog.getByRole('button', { name: 'Merge into my draft' }).click();
    await mine.getByRole('button', { name: 'Save draft' }).click();
    await told(mine, 'Saved as version 3');
    expect(await htmlOf(account, 3)).toBe(
      LINES.join('\n').replace('One', 'Uno').replace('Three', 'Tre').replace('Bye', 'Ciao'),
    );
  });

  it('never put live what the one who publishes has not seen', async () => {
    const { account, page } = await openEditor();
    await page.getByLabel('Subject').fill('Mine');
    await page.getByRole('button', { name: 'Save draft' }).click();
    await told(page, 'Saved as version 2');
    await put(account, { subject: 'Theirs' });
    await page.getByRole('button', { name: 'Publish…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Publish version 2 of note?' });
    await dialog.getByRole('button', { name: 'Publish version 2' }).click();
    // What they changed is shown at once, and the editor goes on with it.
    const conflict = page.getByRole('dialog', { name: 'Someone else saved a version' });
    await conflict.getByText('version 3 was saved since. This is what it changes.').waitFor();
    const subject = conflict.getByRole('region', { name: 'Subject' });
    await subject.locator('pre', { hasText: 'Theirs' }).waitFor();
    await look(page, 'publish-conflict');
    const { published_version } = await call(account, 'GET', '/v1/templates/note/versions/newest');
    expect(published_version).toBe(1);
    await conflict.getByRole('button', { name: 'Continue with version 3' }).click();
    await page.getByText('Version 3', { exact: true }).waitFor();
    expect(await page.getByLabel('Subject').inputValue()).toBe('Theirs');
    await page.getByRole('button', { name: 'Publish…' }).click();
    await page.getByRole('button', { name: 'Publish version 3' }).click();
    await told(page, 'Version 3 is in use');
  });
});

describe.skipIf(!dashboard)('Publishing', () => {
  it('shows what changes, tried on the last emails, and names those that would fail', async () => {
    const { account, page } = await openEditor();
    for (const variables of [{ name: 'Bo' }, { name: 'Cy', plan: 'gold' }]) {
      const sent = await dashboard!.service.send(account.key, {
        from_email: 'hello@example.com',
        to: [`${variables.name.toLowerCase()}@example.net`],
        template: 'note',
        variables,
      });
      expect(sent.status).toBe(202);
    }
    await page.getByRole('tab', { name: 'Schema' }).click();
    await page.getByLabel('Variables').fill('[{"name":"plan","required":true}]');
    await page.getByRole('tab', { name: 'Values' }).click();
    await page.getByLabel('plan').fill('silver');
    await page.getByRole('button', { name: 'Keep as the sample' }).click();
    await page.getByRole('tab', { name: 'HTML' }).click();
    await typeLine(page, 'Two', '<p>Your plan: {{ plan }}</p>');
    await page.getByRole('button', { name: 'Publish…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Publish version 2 of note?' });
    await dialog.getByText('1 would fail, 1 would look different, 0 would stay the same').waitFor();
    const failing = dialog.getByRole('button', { name: /bo@example\.net/ });
    expect(await failing.innerText()).toContain('variables.plan is missing or empty');
    await dialog.getByRole('button', { name: /cy@example\.net/ }).click();
    await dialog
      .frameLocator('iframe[title="The email as it would be"]')
      .getByText('Your plan: gold')
      .waitFor();
    await dialog.frameLocator('iframe[title="The email as it is"]').getByText('Two').waitFor();
    await look(page, 'publish');
    await dialog.getByRole('button', { name: 'Publish anyway' }).click();
    await told(page, 'Version 2 is in use');
    const { published_version } = await call(account, 'GET', '/v1/templates/note/versions/newest');
    expect(published_version).toBe(2);
  });
});

describe.skipIf(!dashboard)('A line that fails', () => {
  it('loses no change and makes none twice, and what it says covers no button', async () => {
    const { account, page } = await openEditor();
    /** The service does it, and nobody hears of it. */
    const loseAnswer = (call: string) =>
      page.route(
        call,
        async (route) => {
          await route.fetch();
          await route.abort();
        },
        { times: 1 },
      );
    await page.getByLabel('Subject').fill('Mine');
    await loseAnswer('**/v1/templates/note');
    await page.getByRole('button', { name: 'Save draft' }).click();
    await told(page, 'The service did not answer');
    await page.getByText('Unsaved changes').waitFor();
    await page.getByRole('button', { name: 'Publish…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Publish version 2 of note?' });
    const publish = dialog.getByRole('button', { name: 'Publish version 2' });
    await loseAnswer('**/v1/templates/note/publish');
    await publish.click();
    await dialog.getByRole('alert').getByText('The service did not answer').waitFor();
    await publish.click();
    await told(page, 'Version 2 is in use');
    const { data } = await call(account, 'GET', '/v1/templates/note/versions');
    expect(data.map(({ version }: { version: number }) => version)).toEqual([2, 1]);
  });
});

describe.skipIf(!dashboard)('The versions of a template', () => {
  it('show what was saved while one was about to publish another', async () => {
    const { account, page } = await openEditor();
    await put(account, { subject: 'Second' });
    await page.goto('/templates/note');
    await page.getByRole('button', { name: 'Publish version 2' }).click();
    const publishing = (version: number) =>
      page.getByRole('dialog', { name: `Publish version ${version} of note?` });
    const press = (version: number) =>
      publishing(version)
        .getByRole('button', { name: `Publish version ${version}` })
        .click();
    await publishing(2).waitFor();
    await put(account, { subject: 'Third' });
    await press(2);
    const later = page.getByRole('dialog', { name: 'What version 3 changed' });
    await later.getByText('version 2 was not published').waitFor();
    await later.locator('ins', { hasText: 'Third' }).waitFor();
    await later.getByRole('button', { name: 'Publish version 3…' }).click();
    await press(3);
    await told(page, 'Version 3 is in use');
  });
});

describe.skipIf(!dashboard)('Completion', () => {
  it('offers variables, macros and filters with what they are for', async () => {
    const { page } = await openEditor();
    const editor = page.getByRole('textbox', { name: 'HTML source' });
    const offered = page.locator('.cm-tooltip-autocomplete');
    const option = (label: string) => offered.getByRole('option').filter({ hasText: label });
    // What helps comes later than the first words of who types fast.
    let typed!: () => void;
    const whenTyped = new Promise<void>((resolve) => {
      typed = resolve;
    });
    await page.route('**/typing-aids*.js', async (route) => {
      await whenTyped;
      await route.continue();
    });
    await editor.click();
    await page.keyboard.press('Control+End');
    await page.keyboard.type('\n{{ pl');
    typed();
    await option('plan').first().waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.type('an | trunc');
    await option('truncate').first().waitFor();
    await page.locator('.cm-completionInfo').getByText('Cuts to a given length').waitFor();
    // The keyboard has to wait: for a moment Enter still belongs to the text.
    await option('truncate').first().click();
    await page.keyboard.type(' }}\n{{ ui.but');
    await option('buttons').first().waitFor();
    await option("button(label, url, tone='')").first().waitFor();
    await screenshot(page, 'completion');
    expect(await editor.textContent()).toContain('plan | truncate }}');
  });
});

// Templates: clone, edit, see an error where it is, fix it, publish, send a test; compare versions
// and roll back.
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { captured } from '../support/captured.ts';
import { anEmail, type TestAccount } from '../support/service.ts';
import { look, openDashboard, screenshot, told } from './dashboard.ts';

const sample = readFileSync('catalog/account/welcome/sample.json', 'utf8');
const welcome = { template: 'welcome', variables: { ...JSON.parse(sample), name: 'Bo' } };
const dashboard = await openDashboard();
afterAll(() => dashboard?.stop());

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

const overlap = (one: Box, other: Box): boolean =>
  one.x < other.x + other.width &&
  other.x < one.x + one.width &&
  one.y < other.y + other.height &&
  other.y < one.y + one.height;

describe.skipIf(!dashboard)('Templates', () => {
  it('shows the gallery with thumbnails', async () => {
    const { service, open } = dashboard!;
    const account = await service.account();
    const page = await open({ accountId: account.id, role: 'viewer' });
    await page.goto('/templates');
    const thumbnail = page.frameLocator('iframe[title="Preview of magic-link"]');
    await thumbnail.locator('body *').first().waitFor({ state: 'attached' });
    for (const slug of ['one-time-code', 'password-changed', 'password-reset']) {
      await page
        .frameLocator(`iframe[title="Preview of ${slug}"]`)
        .locator('table')
        .first()
        .waitFor();
    }
    await look(page, 'templates');
    await page.getByRole('searchbox').fill('invoice');
    await page.getByRole('link', { name: /^Invoice/ }).waitFor();
    expect(await page.getByRole('button', { name: 'New template' }).count()).toBe(0);
  });

  it('shows the gallery in another language, which is in its address', async () => {
    const { service, open } = dashboard!;
    const account = await service.account();
    const page = await open({ accountId: account.id, role: 'viewer' });
    await page.goto('/templates?q=invoice');
    const language = page.getByRole('combobox', { name: 'Language' });
    const words = page.frameLocator('iframe[title="Preview of invoice"]').locator('body');
    await words
      .getByText(/^Invoice /)
      .first()
      .waitFor();
    await language.selectOption({ label: 'German' });
    await words
      .getByText(/^Rechnung /)
      .first()
      .waitFor();
    expect(new URL(page.url()).searchParams.get('locale')).toBe('de');
    await page.reload();
    await words
      .getByText(/^Rechnung /)
      .first()
      .waitFor();
    expect(await language.inputValue()).toBe('de');

    // Its place: on a line with the search, below it on a phone; beside nothing that it would
    // cover.
    const search = page.getByRole('searchbox', { name: 'Search templates' });
    const chips = page.getByRole('group', { name: 'Category' });
    for (const width of [375, 768, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      const [box, beside, below] = (await Promise.all(
        [language, search, chips].map((it) => it.boundingBox()),
      )) as [Box, Box, Box];
      expect(box.x + box.width, `${width}`).toBeLessThanOrEqual(width);
      for (const other of [beside, below]) expect(overlap(box, other), `${width}`).toBe(false);
      if (width === 375) expect(box.x).toBe(beside.x);
      else expect(box.y + box.height / 2).toBeCloseTo(beside.y + beside.height / 2, 0);
      await screenshot(page, `templates-in-german-${width}`);
    }
    await language.selectOption({ label: 'Default language' });
    await words
      .getByText(/^Invoice /)
      .first()
      .waitFor();
    expect(new URL(page.url()).searchParams.has('locale')).toBe(false);
  });

  it('is previewed on a desktop, on a phone and in a dark email program', async () => {
    const { service, open } = dashboard!;
    const account = await service.account();
    const page = await open({ accountId: account.id, role: 'viewer' });
    await page.goto('/templates/welcome');
    await page.frameLocator('iframe').getByRole('heading', { name: 'Welcome' }).waitFor();
    await look(page, 'template');
    // In the inbox its preheader follows the subject, which readers of the email do not see.
    const inbox = page.getByRole('figure', { name: 'In the inbox' });
    await expect
      .poll(() => inbox.innerText())
      .toMatch(/^Welcome.*Your account is ready\. Here’s how to get started\./);
    // However little room there is, it is laid out as on a desktop or a phone, and scaled.
    await page.setViewportSize({ width: 800, height: 900 });
    for (const [view, width] of [
      ['Desktop', 640],
      ['Phone', 375],
    ] as const) {
      await page.getByText(view, { exact: true }).click();
      const shown = page.locator('iframe[title="Preview of welcome"]');
      await expect.poll(() => page.frames().at(-1)!.evaluate('innerWidth')).toBe(width);
      const room = (await page.locator('.mail-stage > div').boundingBox())!.width;
      const drawn = (await shown.boundingBox())!.width;
      expect(drawn).toBeCloseTo(Math.min(width, room), 0);
      if (view === 'Desktop') expect(room).toBeLessThan(600);
    }
    await page.setViewportSize({ width: 1360, height: 900 });
    // Without the browser's own emulation, which would reach into the frame by itself.
    await page.emulateMedia({ colorScheme: null });
    await page.getByRole('button', { name: 'Dark mode' }).click();
    const isDark = `matchMedia('(prefers-color-scheme: dark)').matches`;
    expect(await page.frames().at(-1)!.evaluate(isDark)).toBe(true);
    expect(await page.evaluate(isDark)).toBe(false);
    await page.getByRole('button', { name: 'Without images' }).click();
    const pictures = page.frameLocator('iframe').locator('img');
    await expect.poll(() => pictures.count()).toBe(0);
    await page.getByText('Text', { exact: true }).click();
    await page.getByRole('region', { name: 'Text of the email' }).getByText('Welcome').waitFor();
  });

  it('is sent by the call that its page shows', async () => {
    const { service, open } = dashboard!;
    const account = await service.account();
    const page = await open({ accountId: account.id, role: 'viewer' });
    await page.goto('/templates/welcome?tab=call');
    const call = await page.getByText('curl http').first().textContent();
    const body = JSON.parse(call!.split("<<'JSON'\n")[1]!.split('\nJSON')[0]!);
    expect((await service.send(account.key, body)).status).toBe(202);
    await page.goto('/messages');
    await page.getByRole('searchbox').fill('template:welcome');
    await page.getByText('One message, that is all').waitFor();
  });
});

describe.skipIf(!dashboard)('A template from nothing', () => {
  let account: TestAccount;
  let page: Page;

  beforeAll(async () => {
    account = await dashboard!.service.account();
    page = await dashboard!.open({ accountId: account.id, role: 'developer' });
  });

  it('begins like those of the catalogue', async () => {
    await page.goto('/templates');
    // Fewer thumbnails behind the dialog: they are another test's.
    await page.getByRole('searchbox').fill('invoice');
    await page.getByRole('button', { name: 'New template' }).click();
    await page.getByLabel('Name').fill('Monthly report');
    await page.getByLabel('Slug').fill('monthly-report');
    await look(page, 'template-new');
    await page.getByRole('button', { name: 'Create' }).click();
    const preview = page.frameLocator('iframe[title="Live preview"]');
    await preview.getByRole('heading', { name: 'Hello Ada' }).waitFor();
    await preview.getByText('What do you want to say?').waitFor();
  });

  it('is sent once it is published', async () => {
    const { service } = dashboard!;
    await page.getByRole('button', { name: 'Publish…' }).click();
    await page.getByText('No email has been sent from this template yet').waitFor();
    await page.getByRole('button', { name: 'Publish version 1' }).click();
    await told(page, 'Version 1 is in use');

    const sent = await service.send(account.key, {
      from_email: 'hello@example.com',
      to: ['bo@example.net'],
      template: 'monthly-report',
      variables: { name: 'Bo' },
    });
    expect(sent.status).toBe(202);
    const { html } = (await captured(service.database, sent.body.id)).email;
    expect(html).toContain('Hello Bo');
  });
});

describe.skipIf(!dashboard)('A clone', () => {
  let account: TestAccount;
  let page: Page;

  beforeAll(async () => {
    account = await dashboard!.service.account();
    page = await dashboard!.open({ accountId: account.id, role: 'developer' });
  });

  /** What the API sends under this slug now. */
  async function sentSubject(): Promise<string | undefined> {
    const { service } = dashboard!;
    const sent = await service.send(
      account.key,
      anEmail({ ...welcome, subject: '', html: '', text: '' }),
    );
    return (await captured(service.database, sent.body.id)).email.subject;
  }

  /** The button stays under the pointer while what is above it loads. */
  async function publishSteadily(): Promise<void> {
    let go = () => {};
    const isLet = new Promise<void>((done) => {
      go = done;
    });
    const rendering = /\/rehearse|\/render/;
    await page.route(rendering, async (route) => {
      await isLet;
      await route.continue();
    });
    await page.getByRole('button', { name: 'Publish…' }).click();
    const button = page.getByRole('button', { name: /Publish version \d/ });
    const early = await button.boundingBox();
    go();
    await page
      .getByRole('dialog')
      .getByText(/is the sample|Of the last/)
      .waitFor();
    for (const title of ['The email as it is', 'The email as it would be']) {
      await page.frameLocator(`iframe[title="${title}"]`).getByRole('heading').first().waitFor();
    }
    expect(await button.boundingBox()).toEqual(early);
    await page.unroute(rendering);
    await button.click();
  }

  it('shows a fault at its line and column while one edits', async () => {
    await page.goto('/templates/welcome');
    await page.getByRole('button', { name: 'Clone' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Clone' }).click();
    const editor = page.getByRole('textbox', { name: 'HTML source' });
    await editor.click();
    await page.keyboard.press('Control+End');
    await page.keyboard.press('Enter');
    await page.keyboard.type('{% if ', { delay: 5 });
    const fault = page.getByRole('alert', { name: 'The template has an error' });
    await fault.getByText(/HTML, line \d+, column \d+/).waitFor();
    await page.locator('.cm-lint-marker-error').waitFor();
    // Away from what was typed, for which a list of completions may be open or about to.
    await page.keyboard.press('Home');
    await page.getByRole('listbox', { name: 'Completions' }).waitFor({ state: 'detached' });
    await look(page, 'editor-fault');
    expect(await page.getByRole('button', { name: 'Publish…' }).isDisabled()).toBe(true);
    for (const key of ['End', 'Shift+Home', 'Delete']) await page.keyboard.press(key);
    await fault.waitFor({ state: 'hidden' });
  });

  it('shows what readers and receivers would object to', async () => {
    const subject = page.getByLabel('Subject');
    const before = await subject.inputValue();
    await subject.fill('ACT NOW!!! FREE MONEY FOR {{ name }}!!!');
    await page.getByText('The subject reads like spam').waitFor();
    await look(page, 'editor-findings');
    await subject.fill(before);
    await page.getByText('The subject reads like spam').waitFor({ state: 'hidden' });
  });

  it('is published, tried on oneself, and used by the API', async () => {
    await page.getByLabel('Subject').fill('Hello {{ name }}, from us');
    await page.getByText('Hello Sofía, from us').waitFor();
    await page.getByRole('tab', { name: 'Values' }).click();
    await page.getByLabel('name', { exact: true }).fill('Zoë');
    await page.getByText('Hello Zoë, from us').waitFor();
    await look(page, 'editor');
    await publishSteadily();
    await told(page, /Version \d is in use/);

    await page.getByRole('button', { name: 'Test send' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByRole('dialog').locator('[data-event=opened]').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Done' }).click();
    expect(await sentSubject()).toBe('Hello Bo, from us');
  });

  it('is compared with its versions and rolled back', async () => {
    // The editor is as it was before it saved.
    expect(await page.getByLabel('name', { exact: true }).inputValue()).toBe('Zoë');
    await page.getByLabel('Subject').fill('Second thoughts, {{ name }}');
    await page.getByText('Second thoughts, Zoë').waitFor();
    await page.getByRole('button', { name: 'Publish…' }).click();
    await page.getByRole('button', { name: /Publish (?:version \d|anyway)/ }).click();
    await told(page, 'Version 3 is in use');
    await expect.poll(sentSubject).toBe('Second thoughts, Bo');

    await page.getByRole('link', { name: 'Welcome' }).first().click();
    await page
      .getByRole('button', { name: /Diff of version/ })
      .first()
      .click();
    await page.getByRole('textbox', { name: 'What changed' }).waitFor();
    await look(page, 'template-diff');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Roll back' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Roll back' }).click();
    await told(page, /Back to version \d/);
    await page.getByText('Hello Sofía, from us').waitFor();
    await expect.poll(sentSubject).toBe('Hello Bo, from us');
  });
});

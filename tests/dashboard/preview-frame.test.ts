// The frame for emails in a real browser: it shows what is posted to it, again and again, and
// nothing of the email runs.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { announceSkip, closeWindows, openBrowser } from '../support/browser.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let browser: Browser | undefined;
let page: Page;

beforeAll(async () => {
  const opened = await openBrowser();
  if ('skipped' in opened) return announceSkip(opened.skipped);
  browser = opened;
  service = await startTestService();
  page = await browser.newPage();
  await page.goto(service.url);
  await page.evaluate(SET_UP_FRAME);
});

/** As text: it runs in the page, whose types the tests do not know. */
const SET_UP_FRAME = `new Promise((resolve) => {
  globalThis.told = [];
  const frame = document.createElement('iframe');
  frame.sandbox.add('allow-scripts', 'allow-popups');
  frame.src = '/dashboard/preview-frame';
  addEventListener('message', ({ data }) => {
    told.push(data);
    if (data.ready) resolve();
  });
  document.body.append(frame);
})`;

afterAll(async () => {
  if (browser !== undefined) await closeWindows(browser);
  await service?.stop();
});

const show = (html: string) =>
  page.evaluate(
    `document.querySelector('iframe').contentWindow.postMessage({ html: ${JSON.stringify(html)} }, '*')`,
  );

it('shows emails one after the other, with their styles, and tells their height', async (context) => {
  if (browser === undefined) return context.skip();
  const frame = page.frames()[1]!;
  await show('<style>p { color: rgb(1, 2, 3) }</style><p style="height: 700px">First</p>');
  await frame.waitForSelector('text=First');
  expect(await frame.evaluate(`getComputedStyle(document.querySelector('p')).color`)).toBe(
    'rgb(1, 2, 3)',
  );
  await page.waitForFunction(`told.some(({ height = 0 }) => height >= 700)`);
  await show('<p>Second</p><a href="https://example.com/">x</a>');
  await frame.waitForSelector('text=Second');
  expect(await frame.$$('text=First')).toEqual([]);
  const link = `(({ target, rel }) => [target, rel])(document.querySelector('a'))`;
  expect(await frame.evaluate(link)).toEqual(['_blank', 'noopener noreferrer']);
});

it('tells its first words as an inbox shows them', async (context) => {
  if (browser === undefined) return context.skip();
  await show(
    '<style>p {}</style><div>Hello <a href="#">there</a>!</div><p>Your <b>code</b>: <i>4</i>2</p><p>Bye</p>now<br>then',
  );
  await page.waitForFunction(`told.some(({ words = '' }) => words.includes('Bye'))`);
  const words = (await page.evaluate(`told.findLast(({ words }) => words).words`)) as string;
  expect(words.replace(/\s+/g, ' ').trim()).toBe('Hello there! Your code: 42 Bye now then');
});

it('nothing of the email runs, connects or reaches the page around it', async (context) => {
  if (browser === undefined) return context.skip();
  const frame = page.frames()[1]!;
  const asked: string[] = [];
  page.on('response', (response) => asked.push(response.url()));
  await show(`
    <script>parent.postMessage({ ran: 'script' }, '*')</script>
    <img src="data:," onerror="parent.postMessage({ ran: 'handler' }, '*')">
    <iframe src="${service.url}/healthz"></iframe>
    <meta http-equiv="refresh" content="0; url=${service.url}/healthz">
    <link rel="stylesheet" href="${service.url}/evil.css">
    <form action="${service.url}/dashboard/api/session"><button>Go</button></form>
    <p>Third</p>`);
  await frame.waitForSelector('text=Third');
  await frame.click('button');
  await show('<p>Fourth</p>');
  await frame.waitForSelector('text=Fourth');
  expect(await page.evaluate(`told.filter((it) => 'ran' in it)`)).toEqual([]);
  expect(asked.filter((url) => !url.startsWith('data:'))).toEqual([]);
  expect(await frame.evaluate('globalThis.origin')).toBe('null');
});

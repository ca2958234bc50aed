// sandmartin/testing: the mailbox as end-to-end tests use it, over the client. The service's URL
// and the test key come from SANDMARTIN_URL and SANDMARTIN_API_KEY, or from the options.
//
//   const { codes } = await waitForEmail({ to: 'ada@example.com', subject: 'Your code' });
import type { CapturedContent, CapturedEmail } from '../client/operations.ts';
import { Sandmartin } from '../client/sandmartin.ts';

export { type RunningSandbox, startSandbox } from './sandbox.ts';

export interface MailboxOptions {
  baseUrl?: string;
  /** `sm_test_…` */
  apiKey?: string;
}

export interface EmailWish {
  /** Who gets it. Give every test its own address, so that tests can run in parallel. */
  to?: string;
  /** Part of the subject. */
  subject?: string;
  /** Only a newer one: the id of an email or of a message, or a time. */
  after?: string;
  /** 30,000 by default. */
  timeoutMs?: number;
}

export interface Email extends CapturedContent {}

export interface Mailbox {
  /**
   * The next email that matches. None is returned twice, and none from before the mailbox was
   * opened.
   */
  waitForEmail(wish?: EmailWish): Promise<Email>;
  /** Deletes what has arrived: for one address, or everything. */
  clear(to?: string): Promise<void>;
}

const TIMEOUT_MS = 30_000;
const LONGEST_POLL_SECONDS = 30;
const BEFORE_ALL = '1970-01-01T00:00:00Z';

/** A mailbox that begins now: earlier emails are not seen. For a single test. */
export async function openMailbox(options: MailboxOptions = {}): Promise<Mailbox> {
  const api = connect(options);
  const [newest] = (await api.sandbox.list({ limit: 1 })).data;
  return mailboxFrom(api, async () => newest?.id ?? BEFORE_ALL);
}

/**
 * The next email that matches, among those that arrived since this process started. For programs
 * that open no mailbox.
 */
export function waitForEmail(wish: EmailWish & MailboxOptions = {}): Promise<Email> {
  const { baseUrl, apiKey, ...rest } = wish;
  const options = { ...(baseUrl && { baseUrl }), ...(apiKey && { apiKey }) };
  const { SANDMARTIN_URL, SANDMARTIN_API_KEY } = process.env;
  const name = `${baseUrl ?? SANDMARTIN_URL} ${apiKey ?? SANDMARTIN_API_KEY}`;
  const mailbox = sinceStarts.get(name) ?? sinceStart(options);
  sinceStarts.set(name, mailbox);
  return mailbox.waitForEmail(rest);
}
/** By URL and key: a program may test with two accounts. */
const sinceStarts = new Map<string, Mailbox>();

/**
 * `mailbox` for each test: hand it to `test.extend` of Playwright or of Vitest. Playwright's types
 * must be told what it adds.
 *
 *   const test = base.extend<{ mailbox: Mailbox }>(mailboxFixtures);
 *   test('signs up', async ({ page, mailbox }) => { … });
 */
export const mailboxFixtures = {
  // biome-ignore lint/correctness/noEmptyPattern: both look at the text of the function for a pattern
  mailbox: async ({}: object, use: (mailbox: Mailbox) => Promise<void>): Promise<void> => {
    await use(await openMailbox());
  },
};

/** By the service's clock, not ours: only the uptime comes from this machine. */
function sinceStart(options: MailboxOptions): Mailbox {
  let dateMs = Number.NaN;
  const api = connect(options, async (...call) => {
    const response = await fetch(...call);
    dateMs = Date.parse(response.headers.get('date') ?? '');
    return response;
  });
  return mailboxFrom(api, async () => {
    await api.sandbox.list({ limit: 1 });
    // The header has whole seconds.
    const startedMs = dateMs - process.uptime() * 1000 - 1000;
    return Number.isNaN(startedMs) ? BEFORE_ALL : new Date(startedMs).toISOString();
  });
}

function mailboxFrom(api: Sandmartin, readStart: () => Promise<string>): Mailbox {
  const given = new Set<string>();
  let start: Promise<string> | undefined;

  return {
    async waitForEmail(wish = {}) {
      const { to, subject, timeoutMs = TIMEOUT_MS } = wish;
      const deadline = performance.now() + timeoutMs;
      start ??= readStart();
      let after = wish.after ?? (await start);
      for (;;) {
        const leftSeconds = Math.max(0, deadline - performance.now()) / 1000;
        const wait = Math.min(LONGEST_POLL_SECONDS, leftSeconds);
        const { data } = await api.sandbox.list({ to, subject, after, wait, limit: 100 });
        // The oldest is returned first.
        const next = data.findLast(({ id }) => !given.has(id));
        if (next !== undefined) {
          given.add(next.id);
          return await api.sandbox.get({ id: next.id });
        }
        if (leftSeconds === 0) throw await nothingCame(api, wish, after, timeoutMs);
        // An email already returned would end every wait at once.
        after = data[0]?.id ?? after;
      }
    },
    async clear(to) {
      await api.sandbox.clear(to === undefined ? {} : { to });
    },
  };
}

/** Lists what came instead: usually the address or the subject is wrong. */
async function nothingCame(
  api: Sandmartin,
  { to, subject }: EmailWish,
  after: string,
  timeoutMs: number,
): Promise<Error> {
  const { data } = await api.sandbox.list({ after, limit: 5 });
  const wanted = [
    to === undefined ? '' : ` to ${to}`,
    subject === undefined ? '' : ` with "${subject}" in its subject`,
  ].join('');
  const shown = data.map((it: CapturedEmail) => `"${it.subject}" to ${it.recipients.join(', ')}`);
  const instead =
    shown.length === 0
      ? 'No other email arrived either.'
      : `What arrived instead: ${shown.join('; ')}.`;
  return new Error(`No email${wanted} arrived within ${timeoutMs / 1000} s. ${instead}`);
}

function connect(options: MailboxOptions, ownFetch?: typeof fetch): Sandmartin {
  const { SANDMARTIN_URL, SANDMARTIN_API_KEY } = process.env;
  const baseUrl = options.baseUrl ?? SANDMARTIN_URL;
  const apiKey = options.apiKey ?? SANDMARTIN_API_KEY;
  if (baseUrl === undefined || apiKey === undefined) {
    throw new Error(
      'Set SANDMARTIN_URL and SANDMARTIN_API_KEY, or give baseUrl and apiKey. "npx sandmartin serve --sandbox" prints both.',
    );
  }
  return new Sandmartin({ baseUrl, apiKey, ...(ownFetch && { fetch: ownFetch }) });
}

// The sandbox: what was captured of this account's mail, and which addresses play which part.
import { z } from 'zod';
import { type Part, partText, readMail } from '../../feedback/mime.ts';
import { clearOwnCaptured, getOwnCaptured, listOwnCaptured } from '../../sandbox/account-inbox.ts';
import { SCRIPTS, SIMULATOR_DOMAIN } from '../../sandbox/scripts.ts';
import { TRACKING_PATHS } from '../../tracking/apply.ts';
import { PAGE_SIZE, pageQuery, type Works } from '../route.ts';
import { isSealed, sealed } from '../sealed-mail.ts';
import type { SandboxInbox, SandboxMail } from '../views/sandbox.ts';

const LONGEST_SHOWN = 4 * 1024 * 1024;

export const sandboxRoutes: Works<'listSandbox' | 'getSandboxMail' | 'clearSandbox'> = {
  listSandbox: {
    query: z.strictObject(pageQuery),
    async run({ database }, { accountId, query }) {
      const limit = query.limit ?? PAGE_SIZE;
      const items = await listOwnCaptured(database, accountId, { beforeId: query.before, limit });
      const next = items.length === limit ? (items.at(-1)?.id ?? null) : null;
      return { items, next, simulator: SIMULATOR };
    },
  },

  getSandboxMail: {
    async run({ database }, { accountId, session, params }) {
      const { raw, door, ...mail } = await getOwnCaptured(database, accountId, params.id);
      if (isSealed(door, session)) throw sealed();
      const { parts } = readMail(raw);
      return {
        ...mail,
        headers: headerLines(raw),
        html: withoutPixel(textOf(parts, 'text/html')),
        text: textOf(parts, 'text/plain'),
        attachments: attachmentsIn(parts),
        raw: raw.subarray(0, LONGEST_SHOWN).toString('utf8'),
      };
    },
  },

  clearSandbox: {
    async run({ database }, { accountId }) {
      return { cleared: await clearOwnCaptured(database, accountId) };
    },
  },
};

/** What each address of the simulator plays, for people. */
const PLAYS: Record<string, string> = {
  delivered: 'is delivered, as every other address is',
  bounce: 'bounces for good: there is no such mailbox',
  'mailbox-full': 'bounces: the mailbox is full',
  delayed: 'is reported late first, and delivered some seconds after',
  complaint: 'is delivered, then reported as unwanted',
  opened: 'is delivered and opened',
  'machine-opened': 'is delivered and loaded by a prefetcher, which is no open by a person',
  clicked: 'is delivered and opened, and its first link is followed',
  greylist: 'is put off at the first attempt, taken at the second',
  drop: 'meets a line that goes dead at the first attempt, and is taken at the second',
  slow: 'is taken after five seconds',
};

const SIMULATOR: SandboxInbox['simulator'] = Object.keys(SCRIPTS).map((name) => ({
  address: `${name}@${SIMULATOR_DOMAIN}`,
  plays: PLAYS[name] ?? 'plays a part of its own',
}));

function headerLines(raw: Buffer): [string, string][] {
  const end = raw.indexOf('\r\n\r\n');
  const head = raw.subarray(0, end < 0 ? raw.length : end).toString('utf8');
  return head
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n')
    .map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    });
}

function textOf(parts: readonly Part[], type: string): string | null {
  const part = parts.find((it) => it.type === type && !isAttachment(it));
  return part === undefined ? null : partText(part, LONGEST_SHOWN);
}

/** Who looks at a captured mail here is not its reader: that must not count as an open. */
const withoutPixel = (html: string | null): string | null => html?.replace(PIXEL, '') ?? null;

const PIXEL = new RegExp(`<img src="[^"]*${TRACKING_PATHS.open}[\\w-]+"[^>]*>`, 'g');

const isAttachment = (part: Part): boolean =>
  /^\s*attachment/i.test(part.headers.get('content-disposition')?.[0] ?? '');

const attachmentsIn = (parts: readonly Part[]): SandboxMail['attachments'] =>
  parts.filter(isAttachment).map((part) => ({
    filename: part.parameters.get('name') ?? 'attachment',
    contentType: part.type,
    // Base64, less its line breaks.
    size: Math.floor((part.body.replace(/\s+/g, '').replace(/=+$/, '').length * 3) / 4),
  }));

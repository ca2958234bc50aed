// /approve/TOKEN: the link that approvers get by email. The page shows the email as it is now; only
// a click on it decides, because programs that scan email follow every link, and only about what
// the page showed. Before it: notices/ emailed it. After it: approvals/approvals.ts, as from every
// other door.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { APPROVAL_PATH, type ApprovalLink, findApprovalLink } from '../approvals/approval-links.ts';
import { approve, decline } from '../approvals/approvals.ts';
import { writeAudit } from '../audit/audit.ts';
import { Problem } from '../errors.ts';
import { escapeAttribute } from '../html/references.ts';
import { readerOf } from '../http/answer.ts';
import { readUuid } from '../ids.ts';
import { readHeld } from '../operations/approvals.ts';
import type { WholeEmails } from '../operations/whole-emails.ts';
import type { Clock } from '../process/clock.ts';
import type { Log } from '../process/log.ts';
import type { Database } from '../store/pool.ts';
import { type Page, sendInPieces, sendPage } from './page.ts';

export interface ApprovalDeps {
  database: Database;
  clock: Clock;
  log: Log;
  wholeEmails: WholeEmails;
}

export async function answerApproval(
  deps: ApprovalDeps,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  request.resume();
  const [path = '', query = ''] = (request.url ?? '').split('?');
  const [token = ''] = path.slice(path.indexOf(APPROVAL_PATH) + APPROVAL_PATH.length).split('/');
  const link = await findApprovalLink(deps.database, token);
  if (link === undefined) return sendOver(response);
  const held = await deps.wholeEmails.inTurn(link.accountId, readerOf(response), () =>
    readHeld(deps.database, link, link.messageId),
  );
  if (request.method !== 'POST') {
    return sendHeld(response, 200, held, held.sha256 === link.sha256 ? '' : SINCE_MAILED);
  }
  const [, wish, seen] = /^(approve|decline)=([0-9a-f]{64})$/.exec(query) ?? [];
  if (wish === undefined) return sendUndecided(response);
  if (seen !== held.sha256) return sendHeld(response, 409, held, SINCE_SEEN);
  try {
    await decide(deps, link, wish as Wish, seen);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return sendOver(response);
  }
  sendPage(response, 200, SAID[wish as Wish](held));
}

const SINCE_MAILED = 'It was changed after this link was emailed to you. You see it as it is now.';
const SINCE_SEEN =
  'Nothing was decided: the email was changed while you looked at it. You see it as it is now.';

type Wish = 'approve' | 'decline';

const SAID: Record<Wish, (held: Held) => Page> = {
  approve: ({ subject, recipients }) => ({
    title: 'Approved',
    text: `“${subject}” goes out to ${recipients.join(', ')}, exactly as you saw it.`,
  }),
  decline: () => ({ title: 'Declined', text: 'Nobody receives this email.' }),
};

const ACTS = { approve, decline };

async function decide(
  deps: ApprovalDeps,
  { accountId, messageId, person }: ApprovalLink,
  wish: Wish,
  sha256: string,
): Promise<void> {
  const uuid = readUuid('msg_', messageId)!;
  await deps.database.transaction(async (client) => {
    const by = { keyId: null, name: person.email };
    const { state } = await ACTS[wish](client, accountId, uuid, sha256, by);
    await writeAudit(client, deps.clock, {
      accountId,
      actor: { kind: 'person', ...person },
      door: 'dashboard',
      action: `${wish}_email`,
      requestId: `link ${messageId}`,
      changes: [{ target: messageId, after: { state, sha256, by: 'an emailed link' } }],
    });
  });
  deps.log.info(
    { account: accountId, message: messageId, wish },
    'decided through an emailed link',
  );
}

function sendOver(response: ServerResponse): void {
  sendPage(response, 404, {
    title: 'There is nothing to decide here',
    text: 'The email was already approved, declined or cancelled, or its time is up. The page “Waiting for approval” in the dashboard shows what is waiting now.',
  });
}

/** A POST that names neither is not a decision: nothing is sent by accident. */
function sendUndecided(response: ServerResponse): void {
  sendPage(response, 400, {
    title: 'Nothing was decided',
    text: 'Open the link from the email again and choose there.',
  });
}

type Held = Awaited<ReturnType<typeof readHeld>>;

function sendHeld(response: ServerResponse, status: number, held: Held, changed: string): void {
  const rows: [string, string][] = [
    ['From', held.from_email],
    ['To', held.to.join(', ')],
    ['Cc', held.cc.join(', ')],
    ['Bcc', held.bcc.join(', ')],
    ['Reply-To', held.reply_to ?? ''],
    ['Subject', held.subject],
    ['Goes out', held.scheduled_at === null ? 'once approved' : inWords(held.scheduled_at)],
    ...held.headers.map(({ name, value }): [string, string] => [name, value]),
    ['Files', held.attachments.map(({ filename }) => filename).join(', ')],
    ['Gets no copy', held.suppressed.join(', ')],
    ['SHA-256', held.sha256],
  ];
  const table = rows
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `<tr><th>${text(name)}</th><td>${text(value)}</td></tr>`)
    .join('\n');
  const top = `<h1>Send this email?</h1>
<p>An agent wrote it. Nothing has been sent yet, and it expires on ${text(inWords(held.expires_at))}.</p>
${changed === '' ? '' : `<p role="alert"><strong>${text(changed)}</strong></p>`}
<table>${table}</table>
`;
  const buttons = `
<form method="post" action="?approve=${held.sha256}"><button type="submit">Approve and send</button></form>
<form method="post" action="?decline=${held.sha256}"><button class="no" type="submit">Decline</button></form>`;
  function* body() {
    yield top;
    if (held.html !== null) yield* shownHtml(held.html);
    if (held.text !== null) yield* shownText(held.text, held.html === null);
    yield buttons;
  }
  sendInPieces(response, status, { title: 'Send this email?', body: body(), style: STYLE });
}

const text = escapeAttribute;

const PIECE_CHARS = 64 * 1024;

/** Escaped, an email of 25 MB may have 125 MB: it is never escaped as a whole. */
function* inPieces(long: string): Generator<string> {
  for (let at = 0; at < long.length; ) {
    // Never splits a character.
    const end = at + PIECE_CHARS + (isHighSurrogate(long.charCodeAt(at + PIECE_CHARS - 1)) ? 1 : 0);
    yield text(long.slice(at, end));
    at = end;
  }
}

const isHighSurrogate = (code: number): boolean => code >= 0xd8_00 && code < 0xdc_00;

const inWords = (at: string): string =>
  `${new Date(at).toLocaleString('en-GB', { timeZone: 'UTC', dateStyle: 'long', timeStyle: 'short' })} UTC`;

/** As its readers see it. Nothing in it runs, and none of its links can be followed from here. */
function* shownHtml(html: string): Generator<string> {
  yield '<iframe sandbox title="The email" srcdoc="';
  yield* inPieces(html);
  yield '"></iframe>\n';
}

function* shownText(plain: string, alone: boolean): Generator<string> {
  yield `<details${alone ? ' open' : ''}><summary>As plain text</summary><pre>`;
  yield* inPieces(plain);
  yield '</pre></details>';
}

const STYLE = `
  body { margin-top: 8vh; max-width: 44rem; }
  table { border-collapse: collapse; width: 100%; font-size: .95rem; }
  th { text-align: left; font-weight: 600; padding: .2rem 1rem .2rem 0; vertical-align: top; white-space: nowrap; }
  td { overflow-wrap: anywhere; }
  iframe { width: 100%; height: 50vh; margin: 1rem 0 .5rem; background: #fff; color-scheme: light; border: 1px solid color-mix(in srgb, currentColor 25%, transparent); border-radius: var(--radius); resize: vertical; }
  summary { cursor: pointer; }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; border: 1px solid color-mix(in srgb, currentColor 25%, transparent); border-radius: var(--radius); padding: 1rem; max-height: 50vh; overflow: auto; }
  form { display: inline-block; margin: .5rem .5rem 0 0; }
  .no { background: transparent; color: inherit; border-color: currentColor; }
`;

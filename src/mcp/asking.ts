// Asking a person in the chat: a client that can open a page for its user is given the page of the
// held email, and comes back for the decision. Opening the page decides nothing: deciding takes
// that person's own session, on the page. Before it: send_email held an email. After it: the answer
// says what was decided. In the stateless form of protocol 2026-07-28 the client sends the message
// id along; a client of 2025-11-25 is asked within the answer to its call, which is then a stream.
// A form could ask too, but its answers are filled in by whoever holds the key, so it must not
// approve.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  CLIENT_CAPABILITIES_META_KEY,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
} from '@modelcontextprotocol/server';
import type { Caller } from '../accounts/directory.ts';
import { type Approval, findApproval } from '../approvals/approvals.ts';
import { readUuid } from '../ids.ts';
import { cameThrough } from '../messages/message.ts';
import { showApproval } from '../operations/get-message.ts';
import { noMessage } from '../operations/message-lookup.ts';
import type { Database } from '../store/pool.ts';
import { NOTHING_LEFT } from './held.ts';
import { bound } from './untrusted.ts';

/** What a request says about its client. */
export type Envelope = object | undefined;

/** Whether the client opens pages for its user on request. */
export function opensPages(envelope: Envelope): boolean {
  const able = (envelope as Record<string, unknown> | undefined)?.[CLIENT_CAPABILITIES_META_KEY] as
    | { elicitation?: { url?: unknown } }
    | undefined;
  return able?.elicitation?.url !== undefined;
}

/**
 * Clients of 2025-11-25 declare their capabilities once, when they connect, and name their session
 * from then on. Nothing is remembered here: the session's name itself says it.
 */
export function sessionFor(body: unknown): string | undefined {
  const { method, params } = (body ?? {}) as { method?: unknown; params?: InitializeParams };
  if (method !== 'initialize' || params?.capabilities?.elicitation?.url == null) return undefined;
  return `${OPENER}${randomUUID()}`;
}

interface InitializeParams {
  capabilities?: { elicitation?: { url?: unknown } };
}

const OPENER = 'opens-pages-';

export const isOfOpener = (session: string | undefined): boolean =>
  session?.startsWith(OPENER) === true;

/** A `held` answer of send_email, before fencing. */
export interface HeldAnswer {
  id: string;
  held: { approval_url: string; subject: string; recipients: readonly string[] };
}

export const isHeld = (answer: object): answer is HeldAnswer =>
  'held' in answer && 'approval_url' in (answer.held as object);

export const askForApproval = (answer: HeldAnswer): InputRequiredResult =>
  inputRequired({
    inputRequests: { approval: inputRequired.elicitUrl(questionOf(answer)) },
    requestState: answer.id,
  });

/** As a separate request. The response to it decides nothing, so nothing waits for it. */
export const askInStream = (answer: HeldAnswer): object => ({
  jsonrpc: '2.0',
  id: `approval of ${answer.id}`,
  method: 'elicitation/create',
  params: { mode: 'url', elicitationId: answer.id, ...questionOf(answer) },
});

export const askedInStream = ({ id }: HeldAnswer): object => ({
  jsonrpc: '2.0',
  method: 'notifications/elicitation/complete',
  params: { elicitationId: id },
});

function questionOf({ held }: HeldAnswer): { message: string; url: string } {
  const { subject, recipients, approval_url: url } = held;
  const others = recipients.length > 1 ? ` and ${recipients.length - 1} more` : '';
  const message = `Review the email “${bound(subject)}” to ${bound(recipients[0]!)}${others}, and approve or decline it. Nothing has been sent yet.`;
  return { message, url };
}

/** Whether the page was opened at all; if not, there is nothing to wait for. */
export const wasOpened = (responses: Record<string, unknown> | undefined): boolean => {
  const response = inputResponse(responses, 'approval');
  return response.kind === 'elicit' && response.action === 'accept';
};

const LONGEST_WAIT_MS = 25_000;
const ASK_EVERY_MS = 500;

/**
 * The decision, as soon as there is one. The id comes back through the client, so it counts only
 * for emails that this same key sent.
 */
export async function decidedMeanwhile(
  { database, baseUrl }: { database: Database; baseUrl: () => string },
  { accountId, keyId }: Caller,
  id: string,
  { opened, signal }: { opened: boolean; signal: AbortSignal },
): Promise<Record<string, unknown>> {
  const uuid = readUuid('msg_', id);
  if (uuid === undefined || !(await cameThrough(database, accountId, uuid, keyId))) {
    throw noMessage(id);
  }
  const until = performance.now() + (opened ? LONGEST_WAIT_MS : 0);
  for (;;) {
    const approval = await findApproval(database, accountId, uuid);
    if (approval === undefined) throw noMessage(id);
    const over = signal.aborted || performance.now() >= until;
    if (approval.state !== 'waiting' || over) {
      return { id, status: 'queued', ...toldOf(approval, `${baseUrl()}/approvals/${id}`) };
    }
    await sleep(ASK_EVERY_MS);
  }
}

function toldOf(approval: Approval, approval_url: string): Record<string, unknown> {
  const { held, approval: decided } = showApproval(approval);
  if (held !== undefined) return { held: { note: NOTHING_LEFT, approval_url, ...held } };
  return { note: BECAME[decided!.state], approval: decided };
}

const BECAME = {
  approved: 'A person approved it: it goes out as it was shown.',
  declined: 'A person declined it: nobody receives it. Do not send it another way.',
  expired: 'Nobody approved it in time: nobody receives it.',
  cancelled: 'It was cancelled: nobody receives it.',
} as const;

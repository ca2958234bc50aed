// /preferences/TOKEN: which streams of an account a recipient gets. The token is that of the
// unsubscribe link, so only someone who has the email can choose. GET shows, POST changes. It works
// for a suspended account too: recipients owe it nothing.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { accountName } from '../accounts/accounts.ts';
import type { Bodies } from '../http/body.ts';
import { bytesToUuid, showId } from '../ids.ts';
import { listStreams, type Stream } from '../streams/streams.ts';
import { isSuppressed } from '../suppressions/suppressions.ts';
import { ALL_STREAMS, choosePreferences, streamsLeftBy } from '../suppressions/unsubscribes.ts';
import { readBranding } from '../templates/account-branding.ts';
import { PREFERENCES_PATH, readSubscriber } from '../tracking/apply.ts';
import { sendDocument } from './page.ts';
import { type PreferencePage, preferencePage } from './preference-page.ts';
import { sendUnusable, type TrackingDeps, tokenAt } from './tracking-request.ts';

/** Enough for fifty stream names, each twice. */
const MOST_BYTES = 16 * 1024;

interface Subscriber {
  accountId: number;
  messageId: Buffer;
  address: string;
}

export async function answerPreferences(
  deps: TrackingDeps & { bodies: Bodies },
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const token = tokenAt(deps, request, PREFERENCES_PATH, 'unsubscribe');
  const subscriber = token && { ...token, ...readSubscriber(token.url) };
  const page = subscriber && (await readPage(deps, subscriber));
  if (subscriber === undefined || page === undefined) {
    request.resume();
    return sendUnusable(response);
  }
  if (request.method === 'POST') {
    await choose(deps, subscriber, page, await readForm(deps.bodies, request));
    // A reload must not submit the choice again.
    response.writeHead(303, { location: '?saved', 'cache-control': 'no-store' }).end();
    return;
  }
  request.resume();
  const saved = request.url?.endsWith('?saved') ?? false;
  sendDocument(response, 200, preferencePage({ ...page, saved }));
}

async function readForm(bodies: Bodies, request: IncomingMessage): Promise<URLSearchParams> {
  const body = await bodies.read(request, { key: undefined, mostBytes: MOST_BYTES });
  try {
    return new URLSearchParams(body.bytes.toString());
  } finally {
    body.release();
  }
}

async function choose(
  { database, log }: TrackingDeps,
  { accountId, messageId, address }: Subscriber,
  { choices }: PreferencePage,
  form: URLSearchParams,
): Promise<void> {
  // Only what the page offers: a hand-made form cannot leave streams that do not exist.
  const offered = (name: string) =>
    choices.map((it) => it.name).filter((stream) => form.getAll(name).includes(stream));
  const asked = offered('asked');
  const none = form.has('none');
  if (!none && asked.length === 0) return;
  await choosePreferences(database, accountId, address, {
    asked,
    wanted: offered('wanted').filter((stream) => asked.includes(stream)),
    none,
    messageUuid: bytesToUuid(messageId),
  });
  const message = showId('msg_', messageId);
  log.info({ account: accountId, message, none }, 'a recipient chose their preferences');
}

/** Undefined: the account is gone. */
async function readPage(
  { database }: TrackingDeps,
  { accountId, address }: Subscriber,
): Promise<PreferencePage | undefined> {
  const name = await accountName(database, accountId);
  if (name === undefined) return undefined;
  const streams = await listStreams(database, accountId);
  const left = await streamsLeftBy(database, accountId, address);
  const { fields: branding } = await readBranding(database, accountId);
  const none = left.has(ALL_STREAMS);
  const isOffered = ({ name, unsubscribe, archivedAt }: Stream) =>
    archivedAt === null && (unsubscribe || left.has(name));
  return {
    ...{ address, branding, none },
    sender: branding.brand_name || name,
    choices: streams.filter(isOffered).map(({ name, title, description, unsubscribe }) => ({
      ...{ name, title, description },
      wanted: !left.has(name) && !(none && unsubscribe),
    })),
    suppressed: await isSuppressed(database, accountId, address),
    saved: false,
  };
}

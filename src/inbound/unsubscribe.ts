// /u/TOKEN: RFC 8058. A POST unsubscribes at once, from the email program's own button or from the
// page that GET shows: scanners follow links, so a GET alone must change nothing. It applies to the
// stream that the email went through; the others are on the preference page.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { bytesToUuid, showId } from '../ids.ts';
import { listStreams } from '../streams/streams.ts';
import { unsubscribe } from '../suppressions/unsubscribes.ts';
import { PREFERENCES_PATH, readSubscriber, TRACKING_PATHS } from '../tracking/apply.ts';
import { sendPage } from './page.ts';
import { sendUnusable, type TrackingDeps, tokenAt, tokenTextAt } from './tracking-request.ts';

const PATH = TRACKING_PATHS.unsubscribe;

export async function answerUnsubscribe(
  deps: TrackingDeps,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  // The body that an email program posts is always the same and not needed.
  request.resume();
  const token = tokenAt(deps, request, PATH, 'unsubscribe');
  if (token === undefined) return sendUnusable(response);
  const { accountId, messageId } = token;
  const { stream, address } = readSubscriber(token.url);
  const link = {
    to: `..${PREFERENCES_PATH}${tokenTextAt(request, PATH)}`,
    text: 'Choose which emails you get',
  };
  if (request.method !== 'POST') {
    sendPage(response, 200, {
      title: 'Unsubscribe',
      text: `${address} will get no more emails of this kind: ${await titleOf(deps, accountId, stream)}.`,
      button: 'Unsubscribe',
      link,
    });
    return;
  }
  const messageUuid = bytesToUuid(messageId);
  await unsubscribe(deps.database, [{ accountId, address, stream, messageUuid }], 'recipient');
  deps.log.info({ account: accountId, message: showId('msg_', messageId), stream }, 'unsubscribed');
  sendPage(response, 200, {
    title: 'You are unsubscribed',
    text: `${address} gets no more emails of this kind: ${await titleOf(deps, accountId, stream)}.`,
    link,
  });
}

/** Its name if the account or the stream is gone. */
async function titleOf(
  { database }: TrackingDeps,
  accountId: number,
  stream: string,
): Promise<string> {
  const streams = await listStreams(database, accountId);
  return streams.find(({ name }) => name === stream)?.title ?? stream;
}

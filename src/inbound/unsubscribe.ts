// /u/TOKEN: RFC 8058. A POST unsubscribes at once, from the mail program's own button or from the
// page that GET shows: scanners follow links, so a GET alone must change nothing.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { bytesToUuid, showId } from '../ids.ts';
import { suppress } from '../suppressions/suppressions.ts';
import { sendPage } from './page.ts';
import { type TrackingDeps, tokenOf } from './tracking-request.ts';

export async function answerUnsubscribe(
  deps: TrackingDeps,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  // What a mail program posts is always the same; nothing in it is needed.
  request.resume();
  const token = tokenOf(deps, request, 'unsubscribe');
  if (token === undefined) {
    sendPage(response, 404, {
      title: 'This link does not work',
      text: 'It is incomplete, or too old. Please open it from the mail again, or write to its sender.',
    });
    return;
  }
  const { accountId, messageId, url: address } = token;
  if (request.method !== 'POST') {
    sendPage(response, 200, {
      title: 'Unsubscribe',
      text: `${address} will get no more mail from this sender.`,
      button: 'Unsubscribe',
    });
    return;
  }
  const messageUuid = bytesToUuid(messageId);
  await suppress(deps.database, [{ accountId, address, reason: 'unsubscribe', messageUuid }]);
  deps.log.info({ account: accountId, message: showId('msg_', messageId) }, 'unsubscribed');
  sendPage(response, 200, {
    title: 'You are unsubscribed',
    text: `${address} gets no more mail from this sender.`,
  });
}

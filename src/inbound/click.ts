// GET /c/TOKEN: to where the signed token says, at once; the click is recorded after the answer. No table is asked.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { sendPage } from './page.ts';
import { type TrackingDeps, tokenOf } from './tracking-request.ts';

export function answerClick(
  deps: TrackingDeps,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const token = tokenOf(deps, request, 'click');
  if (token === undefined) {
    sendPage(response, 404, {
      title: 'This link does not work',
      text: 'It is incomplete, or too old. Please open it from the mail again, or ask its sender.',
    });
    return;
  }
  // The URL standard's own writing: nothing in it can end a header line.
  const location = new URL(token.url).href;
  response
    .writeHead(302, { location, 'cache-control': 'no-store, private', 'x-robots-tag': 'noindex' })
    .end();
  const { accountId, messageId, index, url } = token;
  deps.engagements.note({
    accountId,
    messageId,
    index,
    url,
    kind: 'clicked',
    ...deps.readRequester(request),
  });
}

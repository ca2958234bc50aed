// GET /c/TOKEN: redirects to the target in the signed token, unless it is switched off; the click
// is recorded after the answer.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { sendPage } from './page.ts';
import { type TrackingDeps, tokenOf } from './tracking-request.ts';

export async function answerClick(
  deps: TrackingDeps,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const token = tokenOf(deps, request, 'click');
  if (token === undefined) {
    sendPage(response, 404, {
      title: 'This link does not work',
      text: 'It is incomplete or too old. Open it from the email again, or ask the sender.',
    });
    return;
  }
  // Nothing on this page comes from the sender, who may be the reason why it is shown.
  if (!(await deps.links.leads(token))) {
    sendPage(response, 410, {
      title: 'This link is switched off',
      text: 'The service that sent this email no longer opens its address. You do not need to do anything.',
    });
    return;
  }
  // Serialized by the URL standard: nothing in it can end a header line.
  const location = new URL(token.url).href;
  response
    .writeHead(302, { location, 'cache-control': 'no-store, private', 'x-robots-tag': 'noindex' })
    .end();
  const { accountId, messageId, index, place, url } = token;
  deps.engagements.note({
    accountId,
    messageId,
    index,
    place,
    url,
    kind: 'clicked',
    ...deps.readRequester(request),
  });
}

// GET /o/TOKEN: the open pixel. Always the same image, whatever happened to the token: an email
// must not show a broken one.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { PIXEL_GIF } from '../tracking/pixel.ts';
import { type TrackingDeps, tokenOf } from './tracking-request.ts';

const HEADERS = {
  'content-type': 'image/gif',
  'content-length': PIXEL_GIF.length,
  // Must be requested again at every opening.
  'cache-control': 'no-store, private',
  'x-robots-tag': 'noindex',
};

export async function answerOpen(
  deps: TrackingDeps,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  response.writeHead(200, HEADERS).end(request.method === 'HEAD' ? undefined : PIXEL_GIF);
  const token = tokenOf(deps, request, 'open');
  if (token === undefined || !(await deps.links.isActive(token.accountId))) return;
  const { accountId, messageId, index, place } = token;
  deps.engagements.note({
    accountId,
    messageId,
    index,
    place,
    kind: 'opened',
    ...deps.readRequester(request),
  });
}

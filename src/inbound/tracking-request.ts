// What the URLs that recipients call share: their deps, and the token at the end of the path.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../process/clock.ts';
import type { Log } from '../process/log.ts';
import type { Database } from '../store/pool.ts';
import { readWith, type TokenKeys } from '../store/token-keys.ts';
import { TRACKING_PATHS } from '../tracking/apply.ts';
import type { LinkSwitch } from '../tracking/link-switch.ts';
import type { EngagementRecorder } from '../tracking/record.ts';
import { readToken, type TokenKind, type TrackingToken } from '../tracking/token.ts';
import { sendPage } from './page.ts';
import type { ReadRequester } from './requester.ts';

export interface TrackingDeps {
  database: Database;
  clock: Clock;
  log: Log;
  trackingKeys: TokenKeys;
  engagements: EngagementRecorder;
  links: LinkSwitch;
  readRequester: ReadRequester;
}

/** The token, if we made it for this purpose and it has not expired. */
export const tokenOf = (
  deps: TrackingDeps,
  request: IncomingMessage,
  kind: TokenKind,
): TrackingToken | undefined => tokenAt(deps, request, TRACKING_PATHS[kind], kind);

/** The same if the token of one purpose opens another page too. */
export function tokenAt(
  deps: TrackingDeps,
  request: IncomingMessage,
  path: string,
  kind: TokenKind,
): TrackingToken | undefined {
  const text = tokenTextAt(request, path);
  const nowMs = deps.clock.nowMs();
  const token = readWith(deps.trackingKeys, (key) => readToken(key, text, nowMs));
  return token?.kind === kind ? token : undefined;
}

export function tokenTextAt(request: IncomingMessage, path: string): string {
  const [whole = ''] = (request.url ?? '').split('?');
  return whole.slice(path.length);
}

/** For people, who cannot know what a token is. */
export const sendUnusable = (response: ServerResponse): void =>
  sendPage(response, 404, {
    title: 'This link does not work',
    text: 'It is incomplete or too old. Open it from the email again, or ask the sender.',
  });

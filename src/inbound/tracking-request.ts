// What the three tracking addresses share: their deps, and the token at the end of the path.
import type { IncomingMessage } from 'node:http';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { Database } from '../store/pool.ts';
import { readWith, type TokenKeys } from '../token-keys.ts';
import { TRACKING_PATHS } from '../tracking/apply.ts';
import type { LinkSwitch } from '../tracking/link-switch.ts';
import type { EngagementRecorder } from '../tracking/record.ts';
import { readToken, type TokenKind, type TrackingToken } from '../tracking/token.ts';
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

/** The token, when we made it for this purpose and its time is not over. */
export function tokenOf(
  deps: TrackingDeps,
  request: IncomingMessage,
  kind: TokenKind,
): TrackingToken | undefined {
  const [path = ''] = (request.url ?? '').split('?');
  const text = path.slice(TRACKING_PATHS[kind].length);
  const nowMs = deps.clock.nowMs();
  const token = readWith(deps.trackingKeys, (key) => readToken(key, text, nowMs));
  return token?.kind === kind ? token : undefined;
}

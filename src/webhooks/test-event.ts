// A test event to one endpoint, sent at once and with the answer: is it reachable, and does it
// accept our signature? Like a real event except for its message, which does not exist; it leaves
// no row in the log.
import type { Dispatcher } from 'undici';
import { EVENT_KINDS, type HookType, SUBSCRIPTION } from '../events/kinds.ts';
import { bytesToUuid, newIdBytes, readUuid } from '../ids.ts';
import type { Clock } from '../process/clock.ts';
import type { Database } from '../store/pool.ts';
import type { Vault } from '../store/vault.ts';
import { getEndpoint } from './endpoint.ts';
import { readSecrets } from './endpoint-secrets.ts';
import { bodyOf, eventIdOf, kindOf, type StoredEvent } from './event-body.ts';
import { type PostResult, postWebhook } from './post.ts';
import { attemptHeaders } from './sign.ts';

export interface TestEventResult extends PostResult {
  eventId: string;
  request: { body: string };
}

export async function sendTestEvent(
  database: Database,
  accountId: number,
  endpointId: string,
  type: HookType,
  { agent, clock, vault }: { agent: Dispatcher; clock: Clock; vault: Vault },
): Promise<TestEventResult> {
  const { url } = await getEndpoint(database, accountId, endpointId);
  const endpointUuid = readUuid('whe_', endpointId)!;
  const nowMs = clock.nowMs();
  const event = testEvent(accountId, type, nowMs);
  const body = bodyOf(event);
  const eventId = eventIdOf(event.eventUuid);
  const headers = attemptHeaders({
    eventId,
    attempt: 1,
    body,
    secrets: await readSecrets(database, vault, { accountId, endpointUuid }, nowMs),
    nowMs,
  });
  const result = await postWebhook(agent, { url, body, headers });
  return { eventId, request: { body: body.toString() }, ...result };
}

function testEvent(accountId: number, type: HookType, nowMs: number): StoredEvent {
  const kind = kindOf(type);
  return {
    accountId,
    messageUuid: bytesToUuid(newIdBytes(nowMs)),
    eventUuid: bytesToUuid(newIdBytes(nowMs)),
    kind,
    timestamp: new Date(nowMs).toISOString().replace('Z', '000Z'),
    sequence: 1,
    recipients: ['ada@example.com'],
    detail: kind === SUBSCRIPTION.hook ? SUBSCRIPTION.example : EVENT_KINDS[kind].example,
    relayMessageId: 'TEST',
    tags: ['test'],
  };
}

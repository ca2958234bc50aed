// What the tests of batches share: a batch over REST, and what is queued after it.
import { type Answer, anEmail, request, type TestService } from '../support/service.ts';

export const postBatch = (
  { url }: Pick<TestService, 'url'>,
  key: string,
  batch: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> =>
  request(`${url}/v1/send/batch`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json', ...headers },
    body: typeof batch === 'string' ? batch : JSON.stringify(batch),
  });

export const PERMISSIVE = { 'x-batch-validation': 'permissive' };

/** Emails that differ, each accepted as it is. */
export const emails = (count: number, changes: Record<string, unknown> = {}) =>
  Array.from({ length: count }, (_, n) => anEmail({ to: [`person-${n}@example.net`], ...changes }));

/** With one that has a fault in its place. */
export const spoilt = (count: number, place: number, changes: Record<string, unknown>) =>
  emails(count).map((email, n) => (n === place ? { ...email, ...changes } : email));

export async function queued({ database }: TestService, accountId: number) {
  return await database.query<{ to: string[]; class: number; door: string }>(
    `SELECT m.recipients AS to, d.class, m.door FROM messages m
     JOIN due_messages d ON d.account_id = m.account_id AND d.message_id = m.id
     JOIN contents c ON c.account_id = m.account_id AND c.message_id = m.id
     WHERE m.account_id = $1 ORDER BY m.recipients`,
    [accountId],
  );
}

// The lane of a stream's email: broadcasts wait behind email that someone is waiting for.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestService, type TestService } from '../support/service.ts';
import { openStreams, passwordReset, type Streams } from './support.ts';

let service: TestService;
let mine: Streams;

beforeAll(async () => {
  // Nobody delivers: what was accepted stays where it was put.
  service = await startTestService({ ROLES: 'api', SECRET_KEY: 'of-the-lanes-test'.repeat(3) });
  mine = await openStreams(service);
  await mine.put('news', { kind: 'broadcast' });
  await mine.put('receipts', { kind: 'transactional' });
});
afterAll(() => service.stop());

it('broadcast is bulk, transactional normal, and what is about access urgent', async () => {
  await mine.send({ stream: 'news' });
  await mine.send({ stream: 'receipts' });
  await mine.send({});
  await mine.send(passwordReset('ada@example.net'));
  const rows = await service.database.query<{ class: number; stream: string | null }>(
    `SELECT d.class, m.stream FROM due_messages d
     JOIN messages m ON m.account_id = d.account_id AND m.id = d.message_id ORDER BY m.id`,
  );
  expect(rows).toEqual([
    { class: 2, stream: 'news' },
    { class: 1, stream: 'receipts' },
    { class: 1, stream: null },
    { class: 0, stream: null },
  ]);
});

// A primary with a synchronous standby dies or freezes under load, and the standby is promoted: the
// service finds it by itself, and every email that was answered with 202 is there.
import { expect, it } from 'vitest';
import { readUuid } from '../../src/ids.ts';
import { openDatabase } from '../../src/store/pool.ts';
import { newFolder } from '../store/embedded-support.ts';
import { startPostgresPair } from '../support/postgres-pair.ts';
import { runCommand, startProcess } from '../support/process.ts';
import { anEmail, makeAccount, request } from '../support/service.ts';
import { until } from '../support/until.ts';

const ACCEPTED_BEFORE = 200;

for (const [what, signal] of [
  ['killed', 'SIGKILL'],
  ['frozen', 'SIGSTOP'],
] as const) {
  it.concurrent(`the primary is ${what}: nothing that was accepted is lost`, async () => {
    const pair = await startPostgresPair(newFolder());
    const service = await startProcess({ DATABASE_URL: pair.url });
    const setUp = openDatabase(pair.url, { connections: 1, onIdleError: () => undefined });
    const { key } = await makeAccount(setUp);
    await setUp.close();

    const accepted: string[] = [];
    const refusals = new Set<number>();
    let sending = true;
    const senders = [1, 2, 3, 4].map(async () => {
      while (sending) {
        const answer = await request(`${service.url}/v1/send`, {
          method: 'POST',
          headers: { 'x-api-key': key, 'content-type': 'application/json' },
          body: JSON.stringify(anEmail({ to: ['delivered@sandbox.localhost'] })),
        });
        if (answer.status === 202) accepted.push(answer.body.id);
        else refusals.add(answer.status);
      }
    });
    await until(() => accepted.length >= ACCEPTED_BEFORE);
    pair.signalPrimary(signal);
    await until(() => refusals.size > 0);
    await pair.promote();
    const promotedAt = accepted.length;
    await until(() => accepted.length > promotedAt + 50);
    sending = false;
    await Promise.all(senders);

    expect([...refusals]).toEqual([503]);
    const rows = await pair.standby.query<{ id: string }>('SELECT id FROM messages');
    const stored = new Set(rows.map(({ id }) => id));
    const lost = accepted.filter((id) => !stored.has(readUuid('msg_', id)!));
    console.log(`${what}: accepted ${accepted.length}, lost ${lost.length}, stored ${stored.size}`);
    expect(lost).toEqual([]);
    // Commands find it, too.
    expect((await runCommand(['account', 'list'], { DATABASE_URL: pair.url })).code).toBe(0);
    await service.end('SIGTERM');
    await pair.standby.close();
    await pair.stop();
  });
}

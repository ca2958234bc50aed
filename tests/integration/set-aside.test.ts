// Quarantine per email: one that cannot be read, composed or recorded is set aside by itself; all
// claimed with it go out.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { registerDoctor } from '../../src/cli/doctor.ts';
import { registerMessage } from '../../src/cli/message.ts';
import { registerQuarantine } from '../../src/cli/quarantine.ts';
import { readUuid } from '../../src/ids.ts';
import { catalogFolder, loadCatalog } from '../../src/templates/catalog.ts';
import { runInProcess } from '../support/command.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import {
  anEmail,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';
import { type SmtpSink, startSink } from '../support/smtp-sink.ts';
import { until } from '../support/until.ts';

let on: TestDatabase;
let sink: SmtpSink;
let api: TestService;
let worker: TestService;
let account: TestAccount;
let other: TestAccount;
beforeAll(async () => {
  on = await createTestDatabase();
  sink = await startSink();
  api = await startTestService({ ROLES: 'api', RELAY_DOWN: 'queue' }, { on });
  account = await api.account();
  other = await api.account();
});
afterAll(async () => {
  await worker?.stop();
  await api.stop();
  await sink.stop();
  await on.drop();
});

const send = async (who: TestAccount, changes: Record<string, unknown> = {}): Promise<string> => {
  const answer = await api.send(who.key, anEmail(changes));
  expect(answer.status, JSON.stringify(answer.body)).toBe(202);
  return answer.body.id;
};
const uuidOf = (id: string): string => readUuid('msg_', id)!;
const handedOver = (id: string) => sink.emails.some((taken) => taken.envelopeId === id);
const setAside = async (id: string) =>
  (
    await on.database.query<{ reason: string }>(
      `SELECT reason FROM due_messages WHERE message_id = $1 AND state = 'set aside'`,
      [uuidOf(id)],
    )
  )[0]?.reason;
const command = (register: Parameters<typeof runInProcess>[0], ...args: string[]) =>
  runInProcess(register, args, { DATABASE_URL: on.url, PORT: '0', FEEDBACK_PORT: '0' });

it('of 43 emails claimed together, three are bad: 40 go out, each bad one says why', async () => {
  const unreadable = await send(account);
  await on.database.query(`UPDATE contents SET head = '{"from":' WHERE message_id = $1`, [
    uuidOf(unreadable),
  ]);
  const newer = await send(account);
  await on.database.query(
    `UPDATE contents SET head = '{"v":99,"from":"a@example.com","to":["b@example.net"]}' WHERE message_id = $1`,
    [uuidOf(newer)],
  );
  const unmakeable = await send(account);
  await on.database.query(
    `UPDATE contents SET head = '{"v":3,"from":"a@example.com","to":["b@example.net"],"headers":[5]}' WHERE message_id = $1`,
    [uuidOf(unmakeable)],
  );
  const good = await Promise.all(
    Array.from({ length: 40 }, (_, n) => send(n % 2 === 0 ? account : other)),
  );
  worker = await startTestService({ ROLES: 'delivery', RELAY_URL: sink.url }, { on });
  await until(() => good.every(handedOver));
  expect(await until(() => setAside(unreadable))).toContain('The stored head is damaged');
  expect(await until(() => setAside(newer))).toContain('format 99');
  expect(await until(() => setAside(unmakeable))).toContain('The email could not be composed');
  expect(sink.emails).toHaveLength(40);
});

it('is visible in doctor, metrics, the list and the message, and can be released', async () => {
  const listed = await command(registerQuarantine, 'quarantine', 'list', '--json');
  const entries = JSON.parse(listed.stdout) as { id: string; reason: string }[];
  expect(entries).toHaveLength(3);
  const doctor = await command(registerDoctor, 'doctor', '--json');
  const findings = JSON.parse(doctor.stdout) as { check: string; ok: boolean; detail: string }[];
  expect(findings.find((it) => it.check === 'quarantine')).toMatchObject({
    ok: false,
    detail: expect.stringContaining('3 emails are set aside'),
  });
  const metrics = await (await fetch(`${api.url}/metrics`)).text();
  expect(metrics).toMatch(/^sandmartin_quarantine 3$/m);

  const { id } = entries.find(({ reason }) => reason.includes('damaged'))!;
  const stillBad = entries.filter((entry) => entry.id !== id);
  const shown = await command(registerMessage, 'message', 'show', id);
  expect(shown.stdout).toContain('set aside: The stored head is damaged');
  await on.database.query(
    `UPDATE contents SET head = '{"v":3,"from":"a@example.com","to":["b@example.net"]}' WHERE message_id = $1`,
    [uuidOf(id)],
  );
  await command(registerQuarantine, 'quarantine', 'release', id);
  await until(() => handedOver(id));
  expect((await command(registerQuarantine, 'quarantine', 'release', id)).stderr).toContain(
    'is not set aside',
  );
  // Those that are still bad are set aside again.
  await command(registerQuarantine, 'quarantine', 'release', '--all');
  for (const entry of stillBad) await until(() => setAside(entry.id));
});

it('an outcome that cannot be recorded is not lost: the email is set aside with what the relay said', async () => {
  // Refused by the database whenever it is recorded.
  await on.database.query(
    `ALTER TABLE events ADD CONSTRAINT poison CHECK (recipients <> '{poison@example.net}') NOT VALID`,
  );
  const poison = await send(account, { to: ['poison@example.net'] });
  const good = await Promise.all(Array.from({ length: 5 }, () => send(account)));
  const reason = await until(() => setAside(poison));
  expect(reason).toContain('The relay accepted it for poison@example.net');
  await until(() => good.every(handedOver));
  await on.database.query('ALTER TABLE events DROP CONSTRAINT poison');
  const resolved = await command(registerMessage, 'message', 'resolve', poison, '--as', 'sent');
  expect(resolved.stdout).toContain('Counts as sent: poison@example.net');
  expect((await api.get(account.key, `/v1/messages/${poison}`)).body).toMatchObject({
    status: 'sent',
    events: [{ type: 'sent', recipients: ['poison@example.net'] }],
  });
  expect(sink.emails.filter((taken) => taken.envelopeId === poison)).toHaveLength(1);
});

it('emails of authentication and security templates stand in the urgent class, others do not', async () => {
  await worker.stop();
  const fromTemplate = (template: string) => {
    const { subject: _, html: __, text: ___, ...rest } = anEmail();
    const variables = loadCatalog(catalogFolder).templates.get(template)!.sample;
    return { ...rest, template, variables };
  };
  const wanted: [Record<string, unknown>, number][] = [
    [fromTemplate('password-reset'), 0],
    [fromTemplate('account-locked'), 0],
    [fromTemplate('order-shipped'), 1],
    [anEmail(), 1],
  ];
  for (const [request, stored] of wanted) {
    const { body } = await api.send(account.key, request);
    const rows = await on.database.query<{ class: number }>(
      'SELECT class FROM due_messages WHERE message_id = $1',
      [uuidOf(body.id)],
    );
    expect(rows).toEqual([{ class: stored }]);
  }
});

// Temporary causes are answered by SMTP with a 4xx, so that programs keep the email and try again:
// the database is away, the queue is full, the relay is down, the account is over its rate. Then
// the email gets through.
import { expect, it, onTestFinished } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { startTestService } from '../support/service.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { until } from '../support/until.ts';
import { hand, logIn, openSmtp, plain, SIMPLE } from './client.ts';

async function start(env: Record<string, string>) {
  const service = await startTestService({ SMTP_PORT: '0', ...env });
  onTestFinished(() => service.stop());
  return service;
}

it('the database: 454 to a key, 451 to an email, and both are taken when it is back', async () => {
  const test = await createTestDatabase();
  const proxy = await startTcpProxy(test.url);
  const service = await startTestService({ SMTP_PORT: '0' }, { on: { ...test, url: proxy.url } });
  onTestFinished(async () => {
    await service.stop();
    await proxy.close();
    await test.drop();
  });
  const port = service.service.smtpPort!;
  const { key } = await service.account();
  const client = await logIn(port, key);
  expect(await hand(client, SIMPLE)).toMatch(/^250/);

  await proxy.shut();
  // Known for a second more, the key may still begin an email: then its end is refused.
  expect(await hand(client, SIMPLE)).toMatch(/^451[ -]4\.3\.2 .*database/);
  await client.say('RSET');
  await until(async () => {
    const begun = await client.say('MAIL FROM:<hello@example.com>');
    await client.say('RSET');
    return /^451[ -]4\.3\.2 .*database/.test(begun);
  });
  const stranger = await openSmtp(port);
  await stranger.reply();
  await stranger.say('EHLO test.example');
  expect(await stranger.say(plain(key))).toMatch(/^454[ -]4\.7\.0 .*database/);

  await proxy.open();
  await until(async () => (await stranger.say(plain(key))).startsWith('235'));
  expect(await hand(stranger, SIMPLE)).toMatch(/^250/);
  await until(async () => (await hand(client, SIMPLE)).startsWith('250'));
});

it('a full queue', async () => {
  const service = await start({
    ...{ RELAY_URL: 'smtp://127.0.0.1:1', RELAY_DOWN: 'queue', QUEUE_LIMIT: '2' },
  });
  const { key } = await service.account();
  const client = await logIn(service.service.smtpPort!, key);
  for (let n = 0; n < 2; n++) expect(await hand(client, SIMPLE)).toMatch(/^250/);
  expect(await hand(client, SIMPLE)).toMatch(/^451[ -]4\.3\.2 .*queue of this service is full/);
  await service.database.query('DELETE FROM due_messages');
  await until(async () => (await hand(client, SIMPLE)).startsWith('250'));
});

it('the relay', async () => {
  const service = await start({ RELAY_URL: 'smtp://127.0.0.1:1' });
  const { key } = await service.account();
  const client = await logIn(service.service.smtpPort!, key);
  await until(async () => /^451[ -]4\.4\.1 .*relay/.test(await hand(client, SIMPLE)));
});

it('the rate, and it is counted', async () => {
  const service = await start({});
  const { key } = await service.account({ ratePerSecond: 1 });
  const client = await logIn(service.service.smtpPort!, key);
  const replies: string[] = [];
  do replies.push(await hand(client, SIMPLE));
  while (replies.at(-1)!.startsWith('250'));
  expect(replies.at(-1)).toMatch(/^451[ -]4\.7\.28 .*sends a second/);
  const metrics = await (await fetch(`${service.url}/metrics`)).text();
  expect(metrics).toContain(`sandmartin_sends_accepted_total{door="smtp"} ${replies.length - 1}`);
  expect(metrics).toMatch(/refused_total\{code="over-limit",door="smtp"\} 1$/m);
  expect(metrics).toMatch(/^sandmartin_smtp_connections_total\{result="taken"\} 1$/m);
  expect(metrics).toMatch(/^sandmartin_smtp_connections\{tls="starttls"\} 1$/m);
  client.socket.destroy();
  await until(async () =>
    /^sandmartin_smtp_connections\{tls="starttls"\} 0$/m.test(
      await (await fetch(`${service.url}/metrics`)).text(),
    ),
  );
  await until(async () =>
    (await hand(await logIn(service.service.smtpPort!, key), SIMPLE)).startsWith('250'),
  );
});

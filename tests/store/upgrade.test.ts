// Data of every released version is opened by this one and used: keys work, queued emails leave,
// timelines answer, webhooks sign.
import { createHmac } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeSchema } from '../../scripts/describe-schema.ts';
import { VERSION } from '../../src/process/version.ts';
import { checkSealed, openSecret } from '../../src/roles/secrets.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { anEmail, startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { FIXTURES, factsOf, loadFixture } from './upgrade-fixture.ts';
import { startReceiver } from './upgrade-receiver.ts';

describe.each(readdirSync(FIXTURES))('data of %s', (version) => {
  const facts = factsOf(version);
  const { main, agent, revoked } = facts.keys;
  let test: TestDatabase;
  let service: TestService;
  const receiver = startReceiver();

  beforeAll(async () => {
    test = await createTestDatabase({ empty: true });
    await loadFixture(test.database, version);
    await test.database.query('UPDATE webhook_endpoints SET url = $1, paused_until = NULL', [
      await receiver.url,
    ]);
    // Rows of years ago are not to be cleared away.
    const kept = { RETENTION_DAYS: '3650', CONTENT_RETENTION_DAYS: '3650' };
    service = await startTestService(
      { SECRET_KEY: facts.secretKey, WEBHOOK_ALLOW: '127.0.0.0/8', ...kept },
      { on: test },
    );
  });
  afterAll(async () => {
    await service?.stop();
    await test.drop();
    receiver.stop();
  });

  const story = async (id: string) => (await service.get(main, `/v1/messages/${id}`)).body;
  const typesOf = (body: { events: { type: string }[] }) => body.events.map(({ type }) => type);

  it.runIf(version === VERSION)('has every form of head that is written by now', () => {
    const { heads } = JSON.parse(readFileSync(join(FIXTURES, '../stored-heads.json'), 'utf8'));
    const forms = heads.map(({ form }: { form: number }) => String(form));
    expect(Object.keys(facts.queued.heads), 'run npm run fixture').toEqual(forms);
  });

  it('has the schema of a new database', async () => {
    const fresh = await createTestDatabase();
    expect(await describeSchema(test.database)).toBe(await describeSchema(fresh.database));
    await fresh.drop();
  });

  it('every timeline still tells what it told', async () => {
    for (const [id, told] of Object.entries<{ types: string[] }>(facts.stories)) {
      // What was under way then may have gone on.
      expect(typesOf(await story(id)).slice(0, told.types.length)).toEqual(told.types);
    }
  });

  it('what was queued leaves, in whatever form its head was stored', async () => {
    const { suppressed, heads, ...plain } = facts.queued;
    for (const id of [...Object.values<string>(plain), ...Object.values<string>(heads)]) {
      await until(async () => (await story(id)).status === 'delivered');
    }
    const [event] = (
      await until(async () => {
        const body = await story(suppressed);
        return body.status === 'bounced' && body;
      })
    ).events;
    expect(event).toMatchObject({ type: 'bounced', bounce_type: 'suppressed' });
    expect(await story(facts.setAside)).toMatchObject({ status: 'queued', events: [] });
  });

  it('keys may do what they might, and a revoked one nothing', async () => {
    expect((await service.send(main, anEmail())).status).toBe(202);
    expect((await service.send(revoked, anEmail())).status).toBe(401);
    expect((await service.send(agent, anEmail())).status).toBe(202);
    const elsewhere = await service.send(agent, anEmail({ to: ['ada@elsewhere.example'] }));
    expect(elsewhere.status).toBe(403);
  });

  it('the account’s template and branding make the email', async () => {
    const rendered = await fetch(`${service.url}/v1/templates/order-note/render`, {
      method: 'POST',
      headers: { 'x-api-key': main, 'content-type': 'application/json' },
      body: JSON.stringify({ variables: { number: '8' } }),
    });
    expect(await rendered.json()).toMatchObject({
      subject: 'Order 8',
      html: expect.stringContaining('Acme packed order 8.'),
    });
  });

  it('webhooks that waited are posted, signed with the secret of then', async () => {
    const { signature, body } = await until(() =>
      receiver.posts.find(({ body }) => JSON.parse(body).event_type === 'delivery'),
    );
    const digest = createHmac('sha256', facts.webhookSecret).update(body).digest('hex');
    expect(signature).toBe(`sha256=${digest}`);
    await until(() => receiver.posts.some(({ body }) => JSON.parse(body).event_type === 'bounce'));
  });

  it('everything that was sealed opens', async () => {
    const secret = await openSecret(test.database, facts.secretKey);
    const { total, stranded } = await checkSealed(test.database, secret);
    expect(total).toBeGreaterThan(3);
    expect(stranded).toEqual([]);
  });

  it('people sign in with their password', async () => {
    const { email, password } = facts.person;
    const answer = await fetch(`${service.url}/dashboard/api/session`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-sm-dashboard': '1',
        origin: new URL(service.url).origin,
      },
      body: JSON.stringify({ email, password }),
    });
    expect(await answer.json()).toMatchObject({ account: { id: facts.accountId, role: 'owner' } });
  });

  it('the pixel of an email that was delivered then is still counted', async () => {
    await fetch(`${service.url}${facts.pixel.path}`);
    await until(async () => (await story(facts.pixel.id)).status === 'opened');
  });

  it('the audit remembers who did what', async () => {
    const { body } = await service.get(main, '/v1/audit');
    const actions = body.data.map(({ action }: { action: string }) => action);
    expect(actions).toEqual(expect.arrayContaining(['set_branding', 'create_webhook_endpoint']));
  });
});

// Official clients of both generations go from a held email to a person's decision; those that open
// pages are asked in the chat, and their answer decides nothing.
import {
  Client as NewClient,
  StreamableHTTPClientTransport as NewTransport,
} from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createKey } from '../../src/accounts/keys.ts';
import { unfenced } from '../../src/mcp/fence.ts';
import { systemClock } from '../../src/process/clock.ts';
import { openSignedIn } from '../dashboard/dashboard-client.ts';
import {
  anEmail,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';
import { until } from '../support/until.ts';
import { callTool, post, rpc } from './support.ts';

let service: TestService;
let account: TestAccount;
let agent: string;
let person: Awaited<ReturnType<typeof openSignedIn>>;
beforeAll(async () => {
  service = await startTestService();
  account = await service.account();
  agent = (
    await createKey(service.database, systemClock, {
      ...{ accountId: account.id, scopes: ['email:send', 'email:read'] },
      limits: { approval: 'always', ownMessages: true },
    })
  ).key;
  person = await openSignedIn(service, { accountId: account.id, role: 'developer' });
});
afterAll(() => service.stop());

// biome-ignore lint/suspicious/noExplicitAny: what a result holds is what the tests are about
type Content = any;

interface AnyClient {
  call(name: string, wanted: Record<string, unknown>): Promise<Content>;
  raw: NewClient;
  close(): Promise<void>;
}

const about = { name: 'test', version: '1' };
const transportOptions = () => ({ requestInit: { headers: { 'X-API-Key': agent } } });
const address = () => new URL(`${service.url}/mcp`);

function walking(client: unknown): AnyClient {
  const raw = client as NewClient;
  return {
    raw,
    async call(name, wanted) {
      const result = await raw.callTool({ name, arguments: wanted });
      const content = result.structuredContent ?? JSON.parse((result.content as Content)[0].text);
      return { isError: result.isError === true, ...(unfenced(content) as object) };
    },
    close: () => raw.close(),
  };
}

async function connectNew(mode: 'legacy' | { pin: string }, opens?: (url: string) => unknown) {
  const client = new NewClient(about, {
    versionNegotiation: { mode },
    capabilities: opens ? { elicitation: { url: {} } } : {},
  });
  if (opens) {
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      const action = await opens((params as { url: string }).url);
      return { action: (action as 'accept' | undefined) ?? 'accept' };
    });
  }
  await client.connect(new NewTransport(address(), transportOptions()));
  return walking(client);
}

const CLIENTS: Record<string, () => Promise<AnyClient>> = {
  'sdk 1.x': async () => {
    const client = new OldClient(about);
    await client.connect(new OldTransport(address(), transportOptions()));
    return walking(client);
  },
  'client 2.x, legacy': () => connectNew('legacy'),
  'client 2.x, 2026-07-28': () => connectNew({ pin: '2026-07-28' }),
};

const decide = (what: 'approve' | 'decline', sm_mail_id: string, sha256: string) =>
  person.api.approvals[what]({ sm_mail_id, sha256 });

const approveAt = async (url: string): Promise<void> => {
  const id = url.split('/').at(-1)!;
  await decide('approve', id, (await person.api.approvals.get({ sm_mail_id: id })).sha256);
};

describe.each(Object.keys(CLIENTS))('%s', (name) => {
  it('hold, show, approve: it leaves, byte for byte', async () => {
    const client = await CLIENTS[name]!();
    const { id, held } = await client.call('send_email', anEmail({ subject: `Held for ${name}` }));
    expect(held).toMatchObject({
      note: expect.stringContaining('Nothing has been sent'),
      subject: `Held for ${name}`,
      text: 'Hello!',
      recipients: ['ada@example.net'],
      findings: [],
    });
    const shown = await person.api.approvals.get({ sm_mail_id: id });
    expect(shown).toMatchObject({ state: 'waiting', sha256: held.sha256, text: 'Hello!' });
    expect(await client.call('get_email_status', { sm_mail_id: id })).toMatchObject({
      status: 'queued',
      held: { sha256: held.sha256 },
    });
    await decide('approve', id, held.sha256);
    await until(
      async () =>
        (await client.call('get_email_status', { sm_mail_id: id })).status === 'delivered',
    );
    const told = await client.call('get_email_status', { sm_mail_id: id });
    expect(told.approval).toMatchObject({ state: 'approved', by: person.email });
    await client.close();
  });

  it('hold, edit: what was seen is refused, and nothing leaves', async () => {
    const client = await CLIENTS[name]!();
    const { id, held } = await client.call('send_email', anEmail({ subject: `Edited by ${name}` }));
    const later = new Date(Date.now() + 3_600_000).toISOString();
    await client.call('reschedule_email', { sm_mail_id: id, scheduled_at: later });
    await expect(decide('approve', id, held.sha256)).rejects.toMatchObject({ status: 409 });
    const told = await client.call('get_email_status', { sm_mail_id: id });
    expect(told).toMatchObject({ status: 'queued', events: [] });
    expect(told.held.sha256).not.toBe(held.sha256);
    await client.close();
  });

  it('has no tool that approves, and sees the App that shows', async () => {
    const client = await CLIENTS[name]!();
    const { tools } = await client.raw.listTools();
    expect(tools.filter((it) => /approv/.test(it.name))).toEqual([]);
    const send = tools.find((it) => it.name === 'send_email')!;
    expect(send._meta).toEqual({ ui: { resourceUri: 'ui://sandmartin/held-email' } });
    const { contents } = await client.raw.readResource({ uri: 'ui://sandmartin/held-email' });
    expect(contents[0]).toMatchObject({ mimeType: 'text/html;profile=mcp-app' });
    await client.close();
  });
});

/** What a client does with a page that it is asked to open. */
type Opens = (url: string) => unknown;

const OPENERS: Record<string, (opens: Opens) => Promise<AnyClient>> = {
  'sdk 1.x': async (opens) => {
    const client = new OldClient(about, { capabilities: { elicitation: { url: {} } } });
    client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
      await opens((params as { url: string }).url);
      return { action: 'accept' };
    });
    await client.connect(new OldTransport(address(), transportOptions()));
    return walking(client);
  },
  'client 2.x, legacy': (opens) => connectNew('legacy', opens),
  'client 2.x, 2026-07-28': (opens) => connectNew({ pin: '2026-07-28' }, opens),
};

describe.each(Object.keys(OPENERS))('a client that opens pages: %s', (name) => {
  it('is asked about a held email, and told what was decided on the page', async () => {
    const opened: string[] = [];
    const client = await OPENERS[name]!(async (url) => {
      opened.push(url);
      await approveAt(url);
    });
    const subject = `Asked in the chat of ${name}`;
    const answer = await client.call('send_email', anEmail({ subject }));
    expect(answer).toMatchObject({
      status: 'queued',
      note: expect.stringContaining('goes out'),
      approval: { state: 'approved', by: person.email },
    });
    expect(opened).toEqual([`${service.url}/approvals/${answer.id}`]);
    const found = await client.call('search_messages', { subject });
    expect(found.messages).toHaveLength(1);
    await client.close();
  });

  it('is told when it was declined', async () => {
    const client = await OPENERS[name]!(async (url) => {
      const id = url.split('/').at(-1)!;
      await decide('decline', id, (await person.api.approvals.get({ sm_mail_id: id })).sha256);
    });
    const answer = await client.call('send_email', anEmail({ subject: `Declined by ${name}` }));
    expect(answer).toMatchObject({ approval: { state: 'declined' } });
    const why = await client.call('explain_delivery', { sm_mail_id: answer.id });
    expect(why.explanation).toBe('A person declined it: nobody receives it.');
    await client.close();
  });

  it('is not asked when its call was refused, or was another', async () => {
    const client = await OPENERS[name]!(() => {
      throw new Error('nothing was to be opened');
    });
    const refused = await client.call('send_email', anEmail({ from_email: 'a@wrong.example' }));
    expect(refused).toMatchObject({ isError: true, status: 403 });
    expect(await client.call('get_account', {})).toMatchObject({ mode: 'sandbox' });
    await client.close();
  });
});

it('a client that only fills in forms is not asked: a form could approve what its own key sent', async () => {
  for (const elicitation of [{}, { form: {} }]) {
    const client = new OldClient(about, { capabilities: { elicitation } });
    client.setRequestHandler(ElicitRequestSchema, () => {
      throw new Error('nothing was to be asked');
    });
    await client.connect(new OldTransport(address(), transportOptions()));
    const subject = `Forms ${JSON.stringify(elicitation)}`;
    const { held } = await walking(client).call('send_email', anEmail({ subject }));
    expect(held).toMatchObject({ approval_url: expect.stringContaining('/approvals/') });
    await client.close();
  }
});

describe('what a client answers', () => {
  it('whatever it answers by itself approves nothing', async () => {
    const only = async (action: 'decline' | 'cancel' | 'accept') => {
      const sent = rpc('modern', 'tools/call', {
        ...{ name: 'send_email', arguments: anEmail({ subject: `Only ${action}` }) },
      });
      const meta = (sent.body.params as { _meta: Record<string, unknown> })._meta;
      const able = {
        ...meta,
        'io.modelcontextprotocol/clientCapabilities': { elicitation: { url: {} } },
      };
      const ask = async (more: object) => {
        const params = { ...(sent.body.params as object), ...more, _meta: able };
        return await post(`${service.url}/mcp`, agent, { ...sent, body: { ...sent.body, params } });
      };
      const first = await ask({});
      expect(first.body.result).toMatchObject({ resultType: 'input_required' });
      const { requestState, inputRequests } = first.body.result;
      expect(inputRequests.approval.params).toMatchObject({ mode: 'url' });
      const inputResponses = { approval: { action, content: { approved: true } } };
      const again = await ask({ requestState, inputResponses });
      expect(again.body.result.structuredContent).toMatchObject({
        ...{ id: requestState, status: 'queued' },
        held: { note: expect.stringContaining('Nothing has been sent') },
      });
      const { events } = (await service.get(account.key, `/v1/messages/${requestState}`)).body;
      expect(events).toEqual([]);
      const waiting = await service.database.query(
        'SELECT FROM messages WHERE account_id = $1 AND subject = $2',
        [account.id, `Only ${action}`],
      );
      expect(waiting).toHaveLength(1);
    };
    /**
     * The same in the older protocol: the question comes in the answer, and is answered by itself.
     */
    const inStream = async () => {
      const { headers, body } = rpc('legacy', 'tools/call', {
        ...{ name: 'send_email', arguments: anEmail({ subject: 'In a stream' }) },
        _meta: { progressToken: 1 },
      });
      const say = (said: unknown) =>
        fetch(`${service.url}/mcp`, {
          method: 'POST',
          headers: { ...headers, 'x-api-key': agent, 'mcp-session-id': 'opens-pages-1' },
          body: JSON.stringify(said),
        });
      const response = await say(body);
      expect(response.headers.get('content-type')).toBe('text/event-stream');
      const messages: Content[] = [];
      for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
        for (const [, data] of chunk.matchAll(/^data: (.*)$/gm)) messages.push(JSON.parse(data!));
        if (messages.length !== 1) continue;
        const result = { action: 'accept', content: { approved: true } };
        const answered = await say({ jsonrpc: '2.0', id: messages[0].id, result });
        expect(answered.status).toBe(202);
      }
      expect(messages.map(({ method }) => method)).toEqual(['elicitation/create', undefined]);
      expect(messages[1].result.structuredContent).toMatchObject({
        id: messages[0].params.elicitationId,
        held: { note: expect.stringContaining('Nothing has been sent') },
      });
    };
    await Promise.all([only('decline'), only('cancel'), only('accept'), inStream()]);
  });

  it('cannot ask for what it did not send itself', async () => {
    const other = (await service.send(account.key, anEmail())).body.id;
    for (const requestState of [other, 'msg_0000000000000000000000000A', 'nonsense', '']) {
      const sent = rpc('modern', 'tools/call', {
        ...{ name: 'send_email', arguments: anEmail({ subject: 'Forged' }), requestState },
      });
      const { body } = await post(`${service.url}/mcp`, agent, sent);
      expect(body.result).toMatchObject({ isError: true });
      expect(JSON.parse(body.result.content[0].text)).toMatchObject({ status: 404 });
    }
    const found = await service.database.query(
      `SELECT FROM messages WHERE account_id = $1 AND subject = 'Forged'`,
      [account.id],
    );
    expect(found).toEqual([]);
  });
});

it('a repeat of a held send says again that nothing has left', async () => {
  const wanted = anEmail({ subject: 'Repeated', html: '<a href="">{{ name }}</a>' });
  const first = await callTool(service, agent, 'send_email', wanted);
  expect(first.content.held.findings.map(({ rule }: { rule: string }) => rule)).toEqual([
    ...['broken-link', 'unresolved-variable'],
  ]);
  const again = await callTool(service, agent, 'send_email', wanted);
  expect(again.content).toMatchObject({ id: first.content.id, duplicate_of_recent: true });
  const search = async () =>
    (await callTool(service, agent, 'search_messages', { subject: 'Repeated' })).content.messages;
  expect(await search()).toMatchObject([{ id: first.content.id, held: true }]);
  const { expires_at: _, ...held } = first.content.held;
  expect(again.content.held).toMatchObject(held);
});

it('the App’s view of an email is for its sender alone', async () => {
  const { content } = await callTool(service, agent, 'send_email', anEmail({ subject: 'Shown' }));
  const read = async (key: string, uri: string) =>
    (await post(`${service.url}/mcp`, key, rpc('legacy', 'resources/read', { uri }))).body;
  const uri = `sandmartin://held-emails/${content.id}`;
  const { contents } = (await read(agent, uri)).result;
  expect(JSON.parse(contents[0].text)).toMatchObject({ subject: 'Shown', state: 'waiting' });
  const other = (await service.account()).key;
  for (const key of [other, account.key]) expect((await read(key, uri)).error.code).toBe(-32602);
  for (const wrong of ['sandmartin://held-emails/', `${uri}x`, 'ui://sandmartin/other']) {
    expect((await read(agent, wrong)).error.code).toBe(-32602);
  }
});

it('the App is not given an email that no chat could show', async () => {
  const large = anEmail({ subject: 'Large', html: 'x'.repeat(2_000_000) });
  const { content } = await callTool(service, agent, 'send_email', large);
  const uri = `sandmartin://held-emails/${content.id}`;
  const { body } = await post(
    `${service.url}/mcp`,
    agent,
    rpc('legacy', 'resources/read', { uri }),
  );
  const shown = JSON.parse(body.result.contents[0].text);
  expect(shown).toMatchObject({ subject: 'Large', html: null });
  expect(shown.text).toContain('too large');
});

it('emails read in one batch do not wait for each other: it is answered at once', async () => {
  const { content } = await callTool(service, agent, 'send_email', anEmail({ subject: 'Batch' }));
  const uri = `sandmartin://held-emails/${content.id}`;
  const { headers, body } = rpc('legacy', 'resources/read', { uri });
  const batch = [1, 2, 3].map((id) => ({ ...body, id }));
  // What waits for itself is cut off after 20 seconds.
  const answer = await post(`${service.url}/mcp`, agent, { headers, body: batch });
  expect(answer.status).toBe(200);
  const [refused, ...others] = answer.body.filter((one: { result?: unknown }) => !one.result);
  expect(others).toEqual([]);
  expect(refused.error.message).toContain('Read one after the other');
  // The turns are free again.
  for (let n = 0; n < 3; n++) {
    const again = await post(`${service.url}/mcp`, agent, { headers, body });
    expect(JSON.parse(again.body.result.contents[0].text)).toMatchObject({ subject: 'Batch' });
  }
});

it('what another key sent is compared with nothing that its sender may read', async () => {
  const coded = (code: string) => ({
    ...{ from_email: 'hello@example.com', to: ['ada@example.net'] },
    ...{ template: 'one-time-code', variables: { code } },
  });
  const other = (await service.send(account.key, coded('731946'))).body.id;
  await until(
    async () =>
      (await service.get(account.key, `/v1/messages/${other}`)).body.status === 'delivered',
  );
  const { content } = await callTool(service, agent, 'send_email', coded('222222'));
  const uri = `sandmartin://held-emails/${content.id}`;
  const sent = rpc('legacy', 'resources/read', { uri });
  const { body } = await post(`${service.url}/mcp`, agent, sent);
  expect(body.result.contents[0].text).toContain('222222');
  expect(body.result.contents[0].text).not.toContain('731946');
  // Whoever decides sees the difference.
  const shown = await person.api.approvals.get({ sm_mail_id: content.id });
  expect(shown.compared_with!.removed.join()).toContain('731946');
});

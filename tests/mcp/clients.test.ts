// Both official clients, in every mode they have, run all four tools over every address of the
// server.
import {
  Client as NewClient,
  StreamableHTTPClientTransport as NewTransport,
} from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anEmail, startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

let service: TestService;
let key: string;
beforeAll(async () => {
  service = await startTestService({ MCP_PORT: '0' });
  key = (await service.account()).key;
});
afterAll(() => service.stop());

interface AnyClient {
  listTools(): Promise<{ tools: { name: string }[] }>;
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
  getServerVersion(): { name: string } | undefined;
  getInstructions(): string | undefined;
  close(): Promise<void>;
}

const about = { name: 'test', version: '1' };
const headers = () => ({ requestInit: { headers: { 'X-API-Key': key } } });

const CLIENTS: Record<string, (url: URL) => Promise<AnyClient>> = {
  'client 2.x, as it comes': (url) => connectNew(url, undefined),
  'client 2.x, legacy': (url) => connectNew(url, 'legacy'),
  'client 2.x, auto': (url) => connectNew(url, 'auto'),
  'client 2.x, pinned to 2026-07-28': (url) => connectNew(url, { pin: '2026-07-28' }),
  'sdk 1.x': async (url) => {
    const client = new OldClient(about);
    await client.connect(new OldTransport(url, headers()));
    return client as unknown as AnyClient;
  },
};

async function connectNew(
  url: URL,
  mode: 'legacy' | 'auto' | { pin: string } | undefined,
): Promise<AnyClient> {
  const client = new NewClient(about, mode === undefined ? {} : { versionNegotiation: { mode } });
  await client.connect(new NewTransport(url, headers()));
  return client as unknown as AnyClient;
}

const ADDRESSES: Record<string, () => string> = {
  '/mcp': () => `${service.url}/mcp`,
  '/v1/mcp': () => `${service.url}/v1/mcp`,
  MCP_PORT: () => service.service.mcpUrl!,
};

describe.each(Object.keys(CLIENTS))('%s', (name) => {
  it.each(Object.keys(ADDRESSES))('over %s', async (address) => {
    const client = await CLIENTS[name]!(new URL(ADDRESSES[address]!()));
    try {
      const { tools } = await client.listTools();
      expect(tools.map((tool) => tool.name)).toEqual([
        'list_templates',
        'get_template',
        'send_email',
        'get_email_status',
        'get_account',
        'send_batch',
        'preview_email',
        'explain_delivery',
        'wait_for_event',
        'reschedule_email',
        'cancel_email',
        'search_messages',
        'lint_email',
      ]);
      expect(client.getInstructions()).toContain('Choosing a template');

      const listed = await call(client, 'list_templates', { category: 'authentication' });
      const slugs = (listed.templates as { slug: string }[]).map(({ slug }) => slug);
      expect(slugs).toContain('password-reset');
      const template = await call(client, 'get_template', { slug: 'password-reset' });
      expect(template).toMatchObject({ slug: 'password-reset', category: 'authentication' });

      const sent = await call(client, 'send_email', {
        ...{ from_email: 'Acme <hello@example.com>', to: ['ada@example.net'] },
        ...{ template: 'password-reset', variables: template.sample },
        ...{ idempotency_key: `${name} ${address}`, subject: `${name} ${address}` },
      });
      expect(sent).toEqual({ id: expect.stringMatching(/^msg_/), status: 'queued', sandbox: true });
      const story = await until(async () => {
        const read = await call(client, 'get_email_status', { sm_mail_id: sent.id });
        return read.status === 'delivered' ? read : undefined;
      });
      expect(story.sm_mail_id).toBe(sent.id);
      // The report may be faster than the note that the relay took the email.
      const kinds = (story.events as { type: string }[]).map(({ type }) => type);
      expect(kinds).toContain('delivered');

      const refused = (await client.callTool({
        name: 'send_email',
        arguments: anEmail({ to: ['nobody'] }),
      })) as { isError: boolean; content: [{ text: string }] };
      expect(refused.isError).toBe(true);
      expect(JSON.parse(refused.content[0].text).status).toBe(400);
    } finally {
      await client.close();
    }
  });
});

it('a client with a wrong key is told so', async () => {
  const client = new NewClient(about);
  const transport = new NewTransport(new URL(`${service.url}/mcp`), {
    requestInit: { headers: { 'X-API-Key': 'wrong' } },
  });
  await expect(client.connect(transport)).rejects.toThrow(/401|X-API-Key/);
});

/** The structured content; the client has checked it against the tool's output schema. */
async function call(
  client: AnyClient,
  name: string,
  wanted: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const result = (await client.callTool({ name, arguments: wanted })) as {
    isError?: boolean;
    structuredContent?: Record<string, unknown>;
    content: [{ text: string }];
  };
  if (result.isError || result.structuredContent === undefined) {
    throw new Error(`${name}: ${result.content[0].text}`);
  }
  expect(JSON.parse(result.content[0].text)).toEqual(result.structuredContent);
  return result.structuredContent;
}

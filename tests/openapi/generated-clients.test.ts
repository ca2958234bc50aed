// Clients that others generate from openapi.json: they compile under strict rules, and an email is
// sent and read with each.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestService, type TestService } from '../support/service.ts';
import { compile, missing, ROOT, runNode, runTool, TOOL_MODULES } from './tools.ts';

const DOCUMENT = join(ROOT, 'openapi.json');

const WITH_OPENAPI_TYPESCRIPT = `
import createClient from 'openapi-fetch';
import type { components, paths } from './schema.js';

type Delivered = components['schemas']['DeliveredEvent'];
const client = createClient<paths>({
  baseUrl: process.env.BASE_URL!,
  headers: { authorization: \`Bearer \${process.env.API_KEY}\` },
});
const email = { from_email: 'hello@example.com', to: ['ada@example.net'] };
const sent = await client.POST('/v1/send', { body: { ...email, subject: 'Hi', text: 'Hi!' } });
if (sent.error) throw new Error(sent.error.detail);
const { data } = await client.GET('/v1/messages/{sm_mail_id}', {
  params: { path: { sm_mail_id: sent.data.id } },
});
const delivered = data?.events.find((event): event is Delivered => event.type === 'delivered');
console.log(JSON.stringify([sent.data.id, data?.sm_mail_id, delivered?.smtp_response ?? null]));

// @ts-expect-error a template brings its HTML
const both: components['schemas']['SendEmailRequest'] = { ...email, template: 'x', html: 'y' };
void both;
`;

const WITH_ORVAL = `
import { type DeliveredEvent, getEmailStatus, sendEmail } from './orval.js';

const options = { headers: { 'X-API-Key': process.env.API_KEY! } };
const email = { from_email: 'hello@example.com', to: ['ada@example.net'] };
const sent = await sendEmail({ ...email, subject: 'Hi', text: 'Hi!' }, options);
if (sent.status !== 202) throw new Error(sent.data.detail);
const read = await getEmailStatus(sent.data.id, options);
if (read.status !== 200) throw new Error(read.data.detail);
const delivered = read.data.events.find((event): event is DeliveredEvent => event.type === 'delivered');
console.log(JSON.stringify([sent.data.id, read.data.sm_mail_id, delivered?.smtp_response ?? null]));
`;

describe.skipIf(missing)('clients made by', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sandmartin-clients-'));
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService({ ROLES: 'api' });
    symlinkSync(TOOL_MODULES, join(folder, 'node_modules'));
  });
  afterAll(async () => {
    await service?.stop();
    rmSync(folder, { recursive: true });
  });

  /** Compiles everything in the folder, runs main.js, and answers what it printed. */
  async function use(made: string, main: string): Promise<unknown> {
    writeFileSync(join(made, 'main.ts'), main);
    writeFileSync(join(made, 'package.json'), '{ "type": "module" }');
    writeFileSync(join(made, 'tsconfig.json'), JSON.stringify({ compilerOptions: STRICT }));
    await compile(made);
    const { key } = await service.account();
    const env = { ...process.env, BASE_URL: service.url, API_KEY: key };
    return JSON.parse(await runNode(['main.js'], made, env));
  }

  const newFolder = (name: string): string => {
    const made = join(folder, name);
    mkdirSync(made);
    return made;
  };

  it('openapi-typescript', async () => {
    const made = newFolder('openapi-typescript');
    await runTool('openapi-typescript', [DOCUMENT, '-o', join(made, 'schema.ts')]);
    const [id, read] = (await use(made, WITH_OPENAPI_TYPESCRIPT)) as string[];
    expect(id).toMatch(/^msg_/);
    expect(read).toBe(id);
  });

  it('orval', async () => {
    const made = newFolder('orval');
    const output = { target: 'orval.ts', client: 'fetch', mode: 'single', baseUrl: service.url };
    const config = { api: { input: { target: DOCUMENT }, output } };
    writeFileSync(join(made, 'orval.config.cjs'), `module.exports = ${JSON.stringify(config)};`);
    await runTool('orval', ['-c', './orval.config.cjs'], made);
    const [id, read] = (await use(made, WITH_ORVAL)) as string[];
    expect(id).toMatch(/^msg_/);
    expect(read).toBe(id);
  });
});

const STRICT = {
  strict: true,
  target: 'es2022',
  lib: ['es2023', 'dom', 'dom.iterable'],
  module: 'nodenext',
  moduleResolution: 'nodenext',
  skipLibCheck: true,
  types: ['node'],
};

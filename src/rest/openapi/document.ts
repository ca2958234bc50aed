// OpenAPI 3.1, made from the operations and the event kinds. Served at /openapi.json; the committed
// copy is checked fresh, and redocly, spectral, openapi-typescript and orval read it in
// tests/openapi.

import { OPERATIONS } from '../../operations/all.ts';
import type { Operation } from '../../operations/operation.ts';
import { atOnce } from '../../process/in-turns.ts';
import { describeOperation } from './operations.ts';
import { RESPONSES } from './responses.ts';
import { PROBLEM, Schemas } from './schemas.ts';
import { describeWebhooks } from './webhooks.ts';

export const describeApi = (baseUrl?: string): object => atOnce(describing(baseUrl));

/** Yields after each operation: all together take 130 ms, and anyone may ask first. */
export function* describing(baseUrl = 'http://127.0.0.1:3000'): Generator<void, object> {
  const schemas = new Schemas({ Problem: PROBLEM });
  const paths: Record<string, Record<string, object>> = {};
  for (const operation of OPERATIONS) {
    const { method, path } = operation.rest;
    paths[path] = {
      ...paths[path],
      [method.toLowerCase()]: describeOperation(operation, tagOf(operation), schemas),
    };
    yield;
  }
  const webhooks = describeWebhooks(schemas);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Sandmartin',
      version: '1',
      description:
        'Transactional email you run yourself: one call queues an email, one call tells its whole story. All bodies are JSON. Answers may gain fields at any time; ignore those you do not know.',
      contact: { name: 'Whoever runs this service', url: baseUrl },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: baseUrl }],
    security: [{ apiKey: [] }, { bearer: [] }],
    tags: [...new Set([...OPERATIONS.map(tagOf), 'webhooks'])].map((name) => ({
      name,
      description: TAGS[name] ?? `What can be done with ${name}.`,
    })),
    paths,
    webhooks,
    components: {
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
        bearer: { type: 'http', scheme: 'bearer', description: 'The same API key.' },
      },
      responses: RESPONSES,
      schemas: schemas.named,
    },
  };
}

const TAGS: Record<string, string> = {
  send: 'Queue email.',
  messages: 'What was sent and what happened to it.',
  templates: 'The catalogue and the account’s own templates, with their versions.',
  lint: 'What receivers would object to in an email, before it is sent.',
  branding: 'How the account’s emails look.',
  domains: 'Domains to send from, with the DNS records that prove and sign for them.',
  addresses: 'Single addresses to send from, proved by a link.',
  streams: 'The kinds of email that the account sends, each of which recipients can leave.',
  suppressions: 'Addresses that the account can no longer send to.',
  recipients: 'What the account holds about one person, to export or erase.',
  webhooks: 'Where events are posted, and what was posted there.',
  approvals: 'Emails that wait for a person’s approval.',
  keys: 'API keys and the rules they carry.',
  team: 'The people in the account, and who is invited.',
  account: 'The account itself: plan, quota and switches.',
  sandbox: 'What the sandbox captured instead of delivering it.',
  usage: 'Today’s quota, figures over time, and what needs attention.',
  statistics: 'What happened to the emails, over time.',
  audit: 'Who changed what.',
  accounts: 'All accounts, for operators of the service.',
  service: 'The state of the service, for its operators.',
  relays: 'Where emails are handed over: addresses, weights, rules and limits. For operators.',
  feedback: 'Email to postmaster, abuse and the feedback listener, for operators.',
  quarantine: 'Emails that were set aside, for operators of the service.',
};

const tagOf = ({ client }: Operation): string =>
  /^send[A-Z]/.test(client) ? 'send' : client.split('.')[0]!;

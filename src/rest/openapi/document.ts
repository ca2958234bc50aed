// OpenAPI 3.1, made from the operations and the event kinds. Served at /openapi.json; the committed
// copy is checked fresh, and redocly, spectral, openapi-typescript and orval read it in
// tests/openapi.
import { OPERATIONS } from '../../operations/all.ts';
import type { Operation } from '../../operations/operation.ts';
import { describeOperation } from './operations.ts';
import { RESPONSES } from './responses.ts';
import { PROBLEM, Schemas } from './schemas.ts';
import { describeWebhooks } from './webhooks.ts';

export function describeApi(baseUrl = 'http://127.0.0.1:3000'): object {
  const schemas = new Schemas({ Problem: PROBLEM });
  const paths: Record<string, Record<string, object>> = {};
  for (const operation of OPERATIONS) {
    const { method, path } = operation.rest;
    paths[path] = {
      ...paths[path],
      [method.toLowerCase()]: describeOperation(operation, tagOf(operation), schemas),
    };
  }
  const webhooks = describeWebhooks(schemas);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Sandmartin',
      version: '1',
      description:
        'Transactional email that you run yourself: one call queues an email, one call tells its whole story. All bodies are JSON. Answers may gain fields at any time; ignore those that you do not know.',
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
  messages: 'What was sent and what became of it.',
  templates: 'The catalogue and the account’s own templates, with their versions.',
  branding: 'How the account’s emails look.',
  domains: 'Domains to send from, with the DNS records that prove and sign for them.',
  addresses: 'Single addresses to send from, proved by a link.',
  suppressions: 'Addresses that the account must not write to any more.',
  webhooks: 'Where events are posted to, and what is posted there.',
  keys: 'API keys and the rules they carry.',
  team: 'The people of the account, and who is invited.',
  account: 'The account itself: plan, quota and switches.',
  sandbox: 'What the sandbox captured instead of delivering it.',
  usage: 'Today’s quota, figures over time, and what needs an action.',
  statistics: 'What became of the emails, over time.',
  audit: 'Who changed what.',
  accounts: 'All accounts, for operators of the service.',
  service: 'How the service does, for its operators.',
  quarantine: 'Mails that were set aside, for operators of the service.',
};

const tagOf = ({ client }: Operation): string => client.split('.')[0]!;

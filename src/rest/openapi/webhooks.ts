// What the service posts to webhook endpoints, in OpenAPI's words: one entry for each type of
// event, from the one list of kinds.
import { z } from 'zod';
import { EVENT_KINDS, SUBSCRIPTION } from '../../events/kinds.ts';
import { type Schemas, typeName } from './schemas.ts';

export function describeWebhooks(schemas: Schemas): Record<string, object> {
  const ofMessages = Object.values(EVENT_KINDS).flatMap(({ hook, fields, example, summary }) =>
    hook === null
      ? []
      : [
          {
            ...{ hook, summary },
            fields: { ...COMMON, ...fields },
            example: { ...COMMON_EXAMPLE, ...example },
          },
        ],
  );
  const { event_timestamp } = COMMON;
  const ofAddresses = {
    ...SUBSCRIPTION,
    summary: `${SUBSCRIPTION.summary} Only for endpoints that name it.`,
    fields: { ...SUBSCRIPTION.fields, event_timestamp },
    example: {
      recipients: COMMON_EXAMPLE.recipients,
      ...SUBSCRIPTION.example,
      event_timestamp: COMMON_EXAMPLE.event_timestamp,
    },
  };
  return Object.fromEntries(
    [...ofMessages, ofAddresses].map((hook) => [hook.hook, { post: describePost(hook, schemas) }]),
  );
}

interface Hook {
  hook: string;
  summary: string;
  fields: Record<string, z.ZodType>;
  example: object;
}

function describePost({ hook, summary, fields, example }: Hook, schemas: Schemas): object {
  const body = z
    .object({
      event_type: z.literal(hook).describe('What happened.'),
      user_id: z.number().int().describe('The owning account, as a number.'),
      payload: z.object(fields).describe('The event.'),
    })
    .describe(summary);
  return {
    operationId: `on_${hook}`,
    tags: ['webhooks'],
    summary: `${summary.replace(/\.$/, '')} (${hook})`,
    description: `${summary} Check the signature over the bytes of the body before you read it. Answer 2xx within 15 seconds; anything else is retried, and 410 disables the endpoint.`,
    security: [],
    parameters: HEADERS,
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: schemas.name(`${typeName(hook)}Webhook`, schemas.of(body, 'output')),
          example: { event_type: hook, user_id: 1, payload: example },
        },
      },
    },
    responses: {
      '2XX': { description: 'Accepted; it is not posted again.' },
      '4XX': {
        description: 'Failed; retried after 30 seconds, 5 and 30 minutes, 2 and 6 hours.',
      },
    },
  };
}

const COMMON = {
  sm_mail_id: z.string().describe('The message id.'),
  message_id: z
    .string()
    .describe('Identifier of the message at the relay; empty if there is none.'),
  recipients: z.array(z.string()).describe('The recipients this event is about.'),
  tags: z.array(z.string()).describe('Labels given when it was sent.'),
  event_timestamp: z.string().describe('When it happened: ISO 8601, UTC, ending in Z.'),
  sequence: z.number().int().describe('1, 2, 3 … per message.'),
};

const COMMON_EXAMPLE = {
  sm_mail_id: 'msg_01K9ZQ3V7N8M2R4T6W8Y0A1B2C',
  message_id: '4XyZ1a',
  recipients: ['ada@example.com'],
  tags: ['receipt'],
  event_timestamp: '2026-11-15T10:22:33.123456Z',
  sequence: 2,
};

const header = (name: string, description: string) => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string' },
});

const HEADERS = [
  header(
    'X-SM-Signature',
    '`sha256=` and the HMAC-SHA256 of the raw body, keyed with the endpoint’s secret as shown, in lower-case hex.',
  ),
  header('X-SM-Event-Id', 'The same in all attempts and replays of an event.'),
  header('X-SM-Attempt', 'Which attempt this is, from 1.'),
  header('webhook-id', 'The same as X-SM-Event-Id, by the name of Standard Webhooks.'),
  header('webhook-timestamp', 'When it was posted, in seconds; part of what is signed.'),
  header('webhook-signature', 'The signature of Standard Webhooks.'),
];

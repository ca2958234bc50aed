// A batch as callers write it: a list of emails, or one email for many recipients, each with their
// own variables. Before it: a door. After it: a list of sends for accept-batch.ts.
import { z } from 'zod';
import { Problem } from '../errors.ts';
import { requireModestCopies } from './batch-size.ts';
import { EITHER_BODY, sendAnswer, sendRequest } from './request.ts';

export const MOST_IN_BATCH = 100;

const idempotency_key = z
  .string()
  .optional()
  .describe(
    'Makes a repeat of this email safe: for 24 hours the same key with the same email gets the same answer. For a single email it is the header Idempotency-Key.',
  )
  .meta({ example: 'order-4711-receipt' });

/** An email of a batch: a send, plus the key that a single send has as a header. */
export const batchEmail = sendRequest.extend({ idempotency_key });

/**
 * What each recipient has of their own if one email is written to many; the rest is beside the
 * list.
 */
const recipient = sendRequest.partial().extend({
  to: z
    .union([z.string(), z.array(z.string())])
    .describe('Who gets this email. The other recipients of the batch do not see it.')
    .meta({ example: 'ada@example.com' }),
  idempotency_key,
});

export const batchRequest = z.strictObject({
  emails: listOf(batchEmail, { id: 'BatchEmail', oneOf: Object.values(EITHER_BODY) }).describe(
    'The emails, each as `POST /v1/send` takes it. No other field may be given with them, except `validation`.',
  ),
  recipients: listOf(recipient, { id: 'BatchRecipient' }).describe(
    'Or one email for many: each of these gets their own email, from the fields beside this list. A field here replaces the common one; `variables` are merged over the common ones.',
  ),
  validation: z
    .enum(['strict', 'permissive'])
    .optional()
    .describe(
      '`strict`: if one email is refused, none is queued. `permissive`: the others are. Default: `strict`.',
    ),
  ...sendRequest.omit({ to: true }).partial().shape,
});

/** Described in full but read one by one: a fault in one email is that email's error. */
function listOf(item: z.ZodObject, meta: Record<string, unknown>) {
  const { $schema: _, ...described } = z.toJSONSchema(item, { io: 'input', reused: 'inline' });
  return z
    .array(z.unknown().meta({ ...described, ...meta }))
    .min(1, 'must hold at least one')
    .max(MOST_IN_BATCH, `must hold at most ${MOST_IN_BATCH}. Send the others in another batch`)
    .optional();
}

/** In terms of JSON Schema; `listedEmails` explains it to callers who give neither or both. */
export const EITHER_LIST = {
  ListOfEmails: {
    type: 'object',
    required: ['emails'],
    properties: { emails: { type: 'array', items: { type: 'object' } }, recipients: false },
  },
  OneEmailForMany: {
    type: 'object',
    required: ['from_email', 'recipients'],
    properties: {
      from_email: { type: 'string' },
      recipients: { type: 'array', items: { type: 'object' } },
      emails: false,
    },
  },
};

export type BatchRequest = z.output<typeof batchRequest>;
export type BatchEmail = z.output<typeof batchEmail>;

export interface ListedEmails {
  /** What the list is called, for paths into it. */
  name: 'emails' | 'recipients';
  /** As they were written; not checked yet. */
  emails: unknown[];
}

export function listedEmails(batch: BatchRequest): ListedEmails {
  const { emails, recipients, validation: _, ...common } = batch;
  if (emails !== undefined) {
    const beside = recipients === undefined ? Object.keys(common)[0] : 'recipients';
    if (beside === undefined) return { name: 'emails', emails };
    throw new Problem(
      'invalid',
      `${beside} cannot be given beside emails. Give each of the emails its own fields, or give recipients instead of emails.`,
      { faults: [{ path: beside, message: `${beside} cannot be given beside emails` }] },
    );
  }
  if (recipients === undefined) {
    throw new Problem(
      'invalid',
      'The batch names no emails. Send an array of emails, or one email with its recipients.',
      { faults: [{ path: 'emails', message: 'emails is missing' }] },
    );
  }
  requireModestCopies(common, recipients.length);
  return { name: 'recipients', emails: recipients.map((each) => personalised(common, each)) };
}

/** Anything that is not an object is left as it is; its reader reports it. */
function personalised(common: object, each: unknown): unknown {
  if (typeof each !== 'object' || each === null || Array.isArray(each)) return each;
  const { to, variables, ...own } = each as Record<string, unknown>;
  return {
    ...common,
    ...own,
    to: typeof to === 'string' ? [to] : to,
    ...laidOver((common as { variables?: object }).variables, variables),
  };
}

function laidOver(common: object | undefined, own: unknown): { variables?: unknown } {
  if (own === undefined || own === null) return common === undefined ? {} : { variables: common };
  const both = typeof own === 'object' && !Array.isArray(own) && common !== undefined;
  return { variables: both ? { ...common, ...own } : own };
}

const fault = z.strictObject({
  path: z.string().describe('Which field of the email, such as `to[2]`.'),
  message: z.string().describe('What is wrong with it.'),
  line: z.number().int().optional().describe('The line, in the text of a template.'),
  column: z.number().int().optional().describe('The column in that line.'),
});

const batchError = z
  .strictObject({
    index: z.number().int().describe('Which email of the batch, from 0.'),
    detail: z.string().describe('What is wrong and what to do about it.'),
    code: z.string().describe('The kind of problem, as for a refused send.'),
    faults: z.array(fault).describe('The fields at fault, if any, and what is wrong with each.'),
  })
  .meta({ id: 'BatchError' });

export const batchAnswer = z.strictObject({
  data: z.array(sendAnswer).describe('The emails that were queued, in the order of the batch.'),
  errors: z
    .array(batchError)
    .describe('Those that were not, in the order of the batch. Empty unless `permissive`.'),
});

export type BatchAnswer = z.output<typeof batchAnswer>;
export type BatchError = z.output<typeof batchError>;

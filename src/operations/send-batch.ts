// send-batch: queues up to 100 emails in one call and one transaction: different ones, or one email
// for many recipients.
import type { Caller } from '../accounts/directory.ts';
import { type Fault, orProblem, Problem } from '../errors.ts';
import type { AcceptDeps } from '../sending/accept.ts';
import { type AcceptedBatch, acceptBatch } from '../sending/accept-batch.ts';
import {
  type BatchAnswer,
  type BatchEmail,
  type BatchError,
  type BatchRequest,
  batchAnswer,
  batchEmail,
  batchRequest,
  EITHER_LIST,
  type ListedEmails,
  listedEmails,
} from '../sending/batch-request.ts';
import { KEY_HEADER } from '../sending/idempotency.ts';
import { operation, type Via } from './operation.ts';
import { readInput } from './read-input.ts';

export const sendBatch = operation({
  name: 'send_batch',
  title: 'Send a batch of emails',
  summary:
    'Queue up to 100 emails in one call: a list of them, each as for POST /v1/send, or one email with `recipients` who each get their own with their own variables. Each counts as one send.',
  effect: 'sends',
  scope: 'email:send',
  input: batchRequest,
  output: batchAnswer,
  rest: {
    method: 'POST',
    path: '/v1/send/batch',
    status: 202,
    list: 'emails',
    headers: { validation: 'x-batch-validation' },
    oneOf: EITHER_LIST,
  },
  client: 'sendBatch',
  tool: {
    brief: 'Queues an email for each of up to 100 people. Other fields are those of send_email.',
    without: ['validation'],
  },
  run: (deps, caller, input, via) => runBatch(deps, caller, input, via),
});

export async function runBatch(
  deps: AcceptDeps,
  caller: Caller,
  input: BatchRequest,
  via: Via,
  { guardRepeats = false } = {},
): Promise<BatchAnswer> {
  const listed = listedEmails(input);
  const strict = input.validation !== 'permissive';
  const { door, idempotencyKey } = via;
  const emails = listed.emails.map(readEmail);
  const how = { door, idempotencyKey, strict, guardRepeats };
  const accepted = await acceptBatch(deps, caller, emails, how);
  via.limit = accepted.limit;
  via.warnings = accepted.warnings;
  return answerBatch(accepted, listed, strict);
}

/** A door with its own format for emails passes one that it could not read as a Problem. */
const readEmail = (raw: unknown): BatchEmail | Problem =>
  raw instanceof Problem ? raw : orProblem(readInput, batchEmail, raw);

/** Refused if nothing was queued, or (strict) not everything. */
function answerBatch(
  { answers }: AcceptedBatch,
  listed: ListedEmails,
  strict: boolean,
): BatchAnswer {
  const data = answers.flatMap((it) => (it === null || it instanceof Problem ? [] : [it]));
  const problems = answers.flatMap((it, index) => (it instanceof Problem ? [{ index, it }] : []));
  if (problems.length > 0 && (strict || data.length === 0)) throw refusedBatch(problems, listed);
  return { data, errors: problems.map(({ index, it }) => errorOf(index, it)) };
}

const errorOf = (index: number, { detail, code, faults }: Problem): BatchError => ({
  ...{ index, detail, code },
  faults: [...faults],
});

/**
 * The status is that of the first fault that waiting does not fix: the same batch would be refused
 * again. If waiting fixes all of them, the wait is the longest.
 */
function refusedBatch(
  problems: { index: number; it: Problem }[],
  { name, emails }: ListedEmails,
): Problem {
  const lasting = problems.find(({ it }) => it.retryAfterSeconds === undefined);
  const { index, it: first } = lasting ?? problems[0]!;
  const wait = Math.max(...problems.map(({ it }) => it.retryAfterSeconds ?? 0));
  const others = problems.length > 1 ? ` So are ${problems.length - 1} others: see errors.` : '';
  return new Problem(
    first.code,
    `Nothing was queued: ${name}[${index}] of ${emails.length} is refused.${others} ${first.detail}`,
    {
      ...(lasting === undefined ? { retryAfterSeconds: wait } : {}),
      ...(first.limit === undefined ? {} : { limit: first.limit }),
      ...(first.kind === undefined ? {} : { kind: first.kind }),
      faults:
        first.code === 'invalid' && first.faults.length === 0
          ? [{ path: `${name}[${index}]`, message: first.detail }]
          : first.faults.map((fault) => ({ ...fault, path: pathIn(`${name}[${index}]`, fault) })),
      errors: problems.map(({ index, it }) => errorOf(index, it)),
    },
  );
}

/** An idempotency key for the whole batch is a header, not a field of one email. */
const pathIn = (email: string, { path }: Fault): string =>
  path === KEY_HEADER ? path : `${email}.${path}`;

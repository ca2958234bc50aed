// Accepting a batch: each email is checked, rendered and packed like a single send, and all are
// written in one transaction. Before it: operations/send-batch.ts has read the emails. After it: as
// with any send.
import type { Caller } from '../accounts/directory.ts';
import { type LimitState, Problem } from '../errors.ts';
import { inLongTurns, takeTurns, turn } from '../process/in-turns.ts';
import { type AcceptDeps, prepareSend, requireNotPaused, type SendVia } from './accept.ts';
import { type Accepted, answer } from './answer.ts';
import type { Verdict } from './batch.ts';
import type { BatchEmail } from './batch-request.ts';
import { countBytes } from './batch-size.ts';
import { claimBatch } from './idempotency.ts';
import type { PackedSend } from './packed-send.ts';
import type { SendAnswer } from './request.ts';

export interface BatchVia extends Pick<SendVia, 'door' | 'guardRepeats'> {
  /** For the whole batch; an email's own key takes precedence. */
  idempotencyKey?: string | undefined;
  /** If one is refused, none is queued. */
  strict: boolean;
}

export interface AcceptedBatch {
  /** For each email, in order. Null: withheld, because another was refused. */
  answers: (SendAnswer | Problem | null)[];
  limit: LimitState | null;
  /** Warnings about those that were accepted, each once. */
  warnings: readonly string[];
}

/** An email that could not be read is replaced by its Problem. */
export async function acceptBatch(
  deps: AcceptDeps,
  caller: Caller,
  emails: readonly (BatchEmail | Problem)[],
  via: BatchVia,
): Promise<AcceptedBatch> {
  requireNotPaused(caller, via);
  const prepared = await prepareAll(deps, caller, emails, via);
  const refused = prepared.some((it) => it instanceof Problem);
  const sends = refused && via.strict ? [] : prepared.filter(isSend);
  await encodeInTurns(sends);
  const verdicts =
    sends.length === 0 ? [] : await deps.batcher.addTogether({ sends, whole: via.strict });
  return answerAll(deps, prepared, verdicts);
}

/** To be written, refused, or a repeat that already has its answer. */
type Prepared = PackedSend | Problem | Accepted;

const isSend = (it: Prepared): it is PackedSend => !(it instanceof Problem || 'answer' in it);

/**
 * This many at a time: they go to the threads together, and an account that has used up its
 * rendering time is told so before the next ones are rendered.
 */
const PREPARED_TOGETHER = 50;

async function prepareAll(
  deps: AcceptDeps,
  caller: Caller,
  emails: readonly (BatchEmail | Problem)[],
  { door, guardRepeats = false, idempotencyKey }: BatchVia,
): Promise<Prepared[]> {
  const turns = takeTurns();
  const requireModest = countBytes();
  const requests = emails.map((email) => (email instanceof Problem ? null : withoutKey(email)));
  const claims =
    idempotencyKey === undefined ? [] : await inLongTurns(claimBatch(idempotencyKey, requests));
  const prepared: Promise<Prepared>[] = [];
  for (const [place, email] of emails.entries()) {
    prepared.push(orProblem(prepareOne(email, place)));
    if (prepared.length % PREPARED_TOGETHER === 0) await Promise.all(prepared);
    else await turns();
  }
  return await Promise.all(prepared);

  async function prepareOne(email: BatchEmail | Problem, place: number): Promise<Prepared> {
    if (email instanceof Problem) throw email;
    const { idempotency_key } = email;
    const claim = idempotency_key === undefined ? claims[place] : undefined;
    const made = await prepareSend(deps, caller, requests[place]!, {
      ...{ door, guardRepeats, idempotencyKey: idempotency_key, keyName: 'idempotency_key' },
      ...(claim === undefined ? {} : { claim }),
    });
    if (isSend(made)) requireModest(made.size);
    return made;
  }
}

/** The key is not part of what is sent: a single send has it in a header. */
function withoutKey(email: BatchEmail): Omit<BatchEmail, 'idempotency_key'> {
  const { idempotency_key: _, ...request } = email;
  return request;
}

async function orProblem<Result>(work: Promise<Result>): Promise<Result | Problem> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

/** Bytes of text that are encoded between two turns of the event loop. */
const PIECE_BYTES = 1024 * 1024;

/** The long texts of all emails are encoded before they are written, in one piece of work. */
async function encodeInTurns(sends: readonly PackedSend[]): Promise<void> {
  if (sends.reduce((sum, { size }) => sum + size, 0) <= PIECE_BYTES) return;
  let sinceTurn = 0;
  for (const send of sends) {
    if (typeof send.html === 'string') send.html = Buffer.from(send.html);
    if (typeof send.text === 'string') send.text = Buffer.from(send.text);
    sinceTurn += send.size;
    if (sinceTurn < PIECE_BYTES) continue;
    sinceTurn = 0;
    await turn();
  }
}

function answerAll(
  deps: AcceptDeps,
  prepared: readonly Prepared[],
  verdicts: readonly Verdict[],
): AcceptedBatch {
  let limit: LimitState | null = null;
  const warnings = new Set<string>();
  let place = 0;
  const answers = prepared.map((it) => {
    if (it instanceof Problem) return it;
    if ('answer' in it) return it.answer;
    const verdict = verdicts[place++];
    if (verdict === undefined || verdict.kind === 'withheld') return null;
    try {
      const accepted = answer(deps, it, verdict);
      limit ??= accepted.limit;
      for (const warning of accepted.warnings) warnings.add(warning);
      return accepted.answer;
    } catch (error) {
      if (error instanceof Problem) return inBatch(error, verdict, verdicts.length);
      throw error;
    }
  });
  return { answers, limit, warnings: [...warnings] };
}

/** A batch larger than the burst allowance never passes, however long the caller waits. */
function inBatch(problem: Problem, verdict: Verdict, count: number): Problem {
  if (verdict.kind !== 'over-rate') return problem;
  const { rate } = verdict.allowance;
  const atOnce = 2 * rate;
  const advice = count > atOnce ? ` At most ${atOnce} pass at once: send smaller batches.` : '';
  return new Problem(
    'over-limit',
    `More than ${rate} emails a second; each email of a batch counts.${advice || ' Wait and try again.'}`,
    {
      retryAfterSeconds: verdict.retryAfterSeconds,
      ...(problem.limit ? { limit: problem.limit } : {}),
    },
  );
}

// What happens to a key and to an email that came by SMTP. Before: server.ts, when a client has
// sent everything. After: sending/accept.ts, the same as for every door; the reply is 250 once the
// email is on disk.
import type {
  SMTPServerAuthentication,
  SMTPServerDataStream,
  SMTPServerSession,
} from 'smtp-server';
import type { Caller } from '../accounts/directory.ts';
import { Problem } from '../errors.ts';
import type { Bodies } from '../http/body.ts';
import type { OperationDeps } from '../operations/deps.ts';
import { requireScope } from '../operations/operation.ts';
import { refuse } from '../operations/refusal.ts';
import { sendEmail } from '../operations/send-email.ts';
import { acceptSend } from '../sending/accept.ts';
import { NO_KEYS_IN_THE_CLEAR } from './connection.ts';
import { readEmail } from './email.ts';
import { checkLines } from './lines.ts';
import { loginReplyOf, reply, replyOf, type SmtpReply } from './replies.ts';

export interface SubmissionDeps extends OperationDeps {
  bodies: Bodies;
}

const MOST_WRONG_KEYS = 3;

/**
 * Whatever goes wrong is answered, logged and counted as at every other door. Synchronous if
 * nothing has to be looked up, as on a connection whose key is cached.
 */
export function answer<Answer>(
  deps: SubmissionDeps,
  session: SMTPServerSession,
  work: () => Answer | Promise<Answer>,
  say: (answered: Answer | SmtpReply) => void,
): void {
  const refused = (error: unknown): SmtpReply => refusal(deps, session, error);
  let done: Answer | SmtpReply | Promise<Answer>;
  try {
    done = work();
  } catch (error) {
    done = refused(error);
  }
  if (done instanceof Promise) void done.catch(refused).then(say);
  else say(done);
}

function refusal(deps: SubmissionDeps, session: SMTPServerSession, error: unknown): SmtpReply {
  if (isReply(error)) {
    countRefused(deps);
    return error;
  }
  const { key: _, ...account } = userOf(session) ?? { key: '' };
  return replyOf(refuse(deps, { door: 'smtp', request: session.id, ...account }, error).body);
}

/** For refusals that only SMTP has, such as an email that is too large. */
const countRefused = ({ metrics }: SubmissionDeps): void =>
  metrics.refused.inc({ code: 'invalid', door: 'smtp' });

const isReply = (error: unknown): error is SmtpReply =>
  error instanceof Error && 'responseCode' in error;

/** Who logged in. The key is checked again for every email: it may be revoked in between. */
interface User {
  key: string;
  account?: number;
}

const userOf = ({ user }: SMTPServerSession): User | undefined => user as User | undefined;

const wrongKeys = new WeakMap<SMTPServerSession, number>();

/** Undefined: logged in. To slow down guessing, the reply to a wrong key is delayed. */
export async function logIn(
  deps: SubmissionDeps,
  { password }: SMTPServerAuthentication,
  session: SMTPServerSession,
  wrongKeyMs: number,
): Promise<SmtpReply | undefined> {
  try {
    await callerOf(deps, password ?? undefined, session);
    return undefined;
  } catch (error) {
    const { body } = refuse(deps, { door: 'smtp', request: session.id }, error);
    const answer = loginReplyOf(body);
    if (answer.responseCode < 500) return answer;
    const wrong = (wrongKeys.get(session) ?? 0) + 1;
    wrongKeys.set(session, wrong);
    await new Promise((resolve) => setTimeout(resolve, wrongKeyMs).unref());
    return wrong < MOST_WRONG_KEYS ? answer : reply(421, '4.7.0', `${body.detail} Too many tries.`);
  }
}

function callerOf(
  { directory }: SubmissionDeps,
  key: string | undefined,
  session: SMTPServerSession,
): Caller | Promise<Caller> {
  const caller = directory.authenticate(key, () => session.remoteAddress);
  return caller instanceof Promise ? caller.then(requireSender) : requireSender(caller);
}

function requireSender(caller: Caller): Caller {
  requireScope(caller, sendEmail.scope);
  return caller;
}

export function admit(deps: SubmissionDeps, session: SMTPServerSession): Caller | Promise<Caller> {
  const user = userOf(session);
  if (user === undefined) throw reply(530, '5.7.0', NO_KEYS_IN_THE_CLEAR);
  const noted = (caller: Caller): Caller => {
    user.account = caller.accountId;
    return caller;
  };
  const caller = callerOf(deps, user.key, session);
  return caller instanceof Promise ? caller.then(noted) : noted(caller);
}

/** False also while the key has to be looked up. */
export function isAdmitted(deps: SubmissionDeps, session: SMTPServerSession): boolean {
  try {
    const admitted = admit(deps, session);
    if (!(admitted instanceof Promise)) return true;
    admitted.catch(() => undefined);
    return false;
  } catch {
    return false;
  }
}

/** An email whose content came in one piece. Returns what the reply says after 250. */
export function take(
  deps: SubmissionDeps,
  content: Buffer,
  session: SMTPServerSession,
): Promise<string> {
  const admitted = admit(deps, session);
  return admitted instanceof Promise
    ? admitted.then((caller) => accept(deps, caller, content, session))
    : accept(deps, admitted, content, session);
}

/** The same for one that arrives in pieces: they take up room while they are collected. */
export async function takePieces(
  deps: SubmissionDeps,
  stream: SMTPServerDataStream,
  session: SMTPServerSession,
): Promise<string> {
  const caller = await admit(deps, session);
  const { bytes, release } = await readWhole(deps, stream, session, caller);
  try {
    return await accept(deps, caller, bytes, session);
  } finally {
    release();
  }
}

async function accept(
  deps: SubmissionDeps,
  caller: Caller,
  content: Buffer,
  session: SMTPServerSession,
): Promise<string> {
  deps.loopWatch.note('smtp', caller.accountId);
  const lines = checkLines(content);
  const { sevenBit } = lines instanceof Promise ? await lines : lines;
  const envelope = session.envelope.rcptTo.map(({ address }) => address);
  const { request, ...submitted } = await readEmail(content, envelope, sevenBit);
  const { answer, repeated } = await acceptSend(deps, caller, request, {
    door: 'smtp',
    ...submitted,
  });
  if (deps.log.isLevelEnabled('info')) {
    deps.log.info(
      { door: 'smtp', request: session.id, account: caller.accountId, message: answer.id },
      'accepted',
    );
  }
  return `2.0.0 ${repeated ? 'was queued before' : 'queued'} as ${answer.id}`;
}

async function readWhole(
  deps: SubmissionDeps,
  stream: SMTPServerDataStream,
  { remoteAddress }: SMTPServerSession,
  { keyId }: Caller,
) {
  try {
    const whose = { key: keyId ?? undefined, address: remoteAddress };
    return await deps.bodies.readStream(stream, whose);
  } catch (error) {
    if (!stream.sizeExceeded || !(error instanceof Problem)) throw error;
    throw reply(
      552,
      '5.3.4',
      'The email is larger than 25 MB (26,214,400 bytes), attachments included. Send smaller files, or links to them.',
    );
  }
}

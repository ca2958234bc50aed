// One email over one session: MAIL, RCPT for each recipient, DATA, the email, the final reply.
// Before: relay.ts picked a session. After: attempt.ts reads the outcome of each recipient.
// Outcomes are values; only bugs throw.
//
// RFC 2920 3.1: the commands of the next email may be written together with the content of this
// one. An email then takes one round trip instead of two. Nothing is believed until all replies to
// what was written are there: RFC 2920 3.2 wants them in order, but a relay that works on content
// in the background may answer the commands behind it first.
import { type Chunk, lengthOf } from '../bytes/chunks.ts';
import { dataPieces } from './data.ts';
import { type Envelope, mailCommand, needsUtf8, rcptCommand } from './envelope.ts';
import { ownReply, type SmtpReply } from './reply.ts';
import type { SmtpSession, SmtpTimeouts } from './session.ts';
import { SmtpFault, type SmtpStage } from './wire.ts';

export interface RecipientOutcome {
  recipient: string;
  /**
   * accepted: the relay has it. deferred: try again later. refused: never. unknown: the final dot
   * was sent and no reply came.
   */
  result: 'accepted' | 'deferred' | 'refused' | 'unknown';
  code: number;
  enhanced: string;
  /** `550 5.1.1 No such user`: the relay's words, or ours if it gave none. */
  text: string;
  /** The command it replied to; undefined if the reply is our own. */
  stage: SmtpStage | undefined;
}

type Said = SmtpReply & { stage?: SmtpStage };

/** Every reply belongs to one command, so it can carry the stage. */
const saidAt = (stage: SmtpStage, reply: SmtpReply): Said => Object.assign(reply, { stage });

export interface HandOver {
  /**
   * ok: the dialogue ran to its end. unreachable: it never got as far as MAIL (connect, TLS,
   * greeting, EHLO, AUTH), which is what the circuit counts. lost: it broke off in the middle.
   */
  connection: 'ok' | 'unreachable' | 'lost';
  /** Where and why, unless ok. */
  fault: { stage: SmtpStage; text: string } | undefined;
  /** In the order of the envelope. */
  recipients: RecipientOutcome[];
  /** The relay's reply to the email itself; '' if it did not get that far. */
  response: string;
  /** The relay's id for the email, from that reply. */
  relayMessageId: string | undefined;
  /** The final dot was sent and no reply came: the relay may or may not have the email. */
  unconfirmed: boolean;
}

export interface Transaction {
  handOver: HandOver;
  /**
   * The connection was dead before it said anything: nothing happened, so the email may use another
   * one at once.
   */
  stale: boolean;
  /** False: the relay gave replies that belong to other commands. */
  inOrder: boolean;
}

const done = (handOver: HandOver): Transaction => ({ handOver, stale: false, inOrder: true });

export interface Email {
  envelope: Envelope;
  chunks: readonly Chunk[];
}

/** An email's commands, and what the relay has replied to them so far. */
export interface Begun {
  envelope: Envelope;
  /** Bytes of its content. */
  size: number;
  /** The recipients that the relay is asked about. */
  open: number[];
  mail: string;
  rcpts: string[];
  /** By recipient, if it is refused. */
  said: (Said | undefined)[];
  accepted: number[];
  /** The relay has said anything about it. */
  isHeard: boolean;
  /** To DATA; undefined: it was not asked, or has not replied. */
  go: Said | undefined;
}

// One write of 4 KB costs 1 µs of copying; seven small writes cost 10 µs of stream machinery.
const SMALL = 65_536;

/**
 * Sends one email. Afterwards the session is usable again if its wire is. `findNext` is asked right
 * before the content is written. If `session.next` is set afterwards, the email that it returned
 * must be the next one of this session.
 */
export async function sendEmail(
  session: SmtpSession,
  email: Email,
  timeouts: SmtpTimeouts,
  findNext: () => Email | undefined = () => undefined,
): Promise<Transaction> {
  const { wire } = session;
  const begun = session.next ?? begin(session, email);
  const { envelope, size, said, accepted } = begun;
  session.next = undefined;
  if (begun.open.length === 0) return done(finished(envelope, said, undefined));

  const reused = session.emails > 0;
  session.emails++;
  session.bodyBegun = false;
  session.dotSent = false;
  try {
    if (begun.go === undefined) await propose(session, begun, timeouts);
    const { go } = begun;
    if (go === undefined) return done(finished(envelope, said, undefined));
    if (go.code === 354 && accepted.length === 0) {
      // RFC 2920 3.1: the relay accepts DATA without recipients. It gets an empty email, which goes
      // nowhere.
      wire.write('.\r\n');
      await wire.reply('body', timeouts.finalMs);
      return done(finished(envelope, said, undefined));
    }
    let final = go;
    if (go.code === 354) {
      // A reply that has already arrived cannot be about the email.
      if (!wire.isQuiet())
        throw new SmtpFault('data', 'the relay sent more replies than it was asked for');
      // Not only when the system confirms the dot: by then the relay may have it too, and have
      // answered or hung up. An email sent in one write is in doubt from its first byte on.
      const pieces = dataPieces(email.chunks, () => {
        session.dotSent = true;
      });
      let taken = true;
      session.bodyBegun = true;
      if (size <= SMALL) wire.write(Buffer.concat([...pieces, ...beginNext(session, findNext)]));
      else taken = await wire.writeAll(pieces, 'body', timeouts.blockMs);
      final = saidAt('body', await wire.reply('body', timeouts.finalMs));
      session.needsReset = !isOk(final);
      if (!session.dotSent && isOk(final))
        throw new SmtpFault('body', 'the relay accepted the email before it had all of it');
      // What is left of the email would be read as commands.
      if (!session.dotSent || !taken) wire.destroy();
      if (session.next !== undefined && final.code !== 421)
        await hearNext(session, session.next, timeouts);
    }
    for (const index of accepted) said[index] = final;
    if (final.code === 421) wire.destroy();
    return done(finished(envelope, said, go.code === 354 ? final : undefined));
  } catch (fault) {
    if (!(fault instanceof SmtpFault)) throw fault;
    wire.destroy();
    return {
      handOver: brokenOff('lost', envelope, said, fault, session.dotSent),
      stale: reused && !begun.isHeard && fault.hungUp,
      inOrder: !(fault instanceof OutOfOrder),
    };
  }
}

function begin({ capabilities }: SmtpSession, { envelope, chunks }: Email): Begun {
  const said = new Array<Said | undefined>(envelope.recipients.length);
  const size = lengthOf(chunks);
  refuseLocally(envelope, size, capabilities, said);
  const open = [...said.keys()].filter((index) => said[index] === undefined);
  const utf8 = envelope.smtputf8 || open.some((index) => needsUtf8(envelope.recipients[index]!));
  return {
    envelope,
    size,
    open,
    mail: mailCommand(envelope, size, utf8, capabilities),
    rcpts: open.map((index) => rcptCommand(envelope.recipients[index]!, capabilities)),
    said,
    accepted: [],
    isHeard: false,
    go: undefined,
  };
}

// RFC 2920: everything up to DATA in one write, answers read in order. Without it, one by one.
const isPipelined = ({ capabilities }: SmtpSession): boolean => capabilities.has('PIPELINING');

const commandsOf = ({ mail, rcpts }: Begun): string => `${mail}${rcpts.join('')}DATA\r\n`;

async function propose(session: SmtpSession, begun: Begun, timeouts: SmtpTimeouts): Promise<void> {
  const reset = session.needsReset ? 'RSET\r\n' : '';
  session.needsReset = true;
  if (isPipelined(session)) {
    session.wire.write(reset + commandsOf(begun));
    if (reset !== '') await hear(session, begun, 'mail', timeouts.mailMs);
    await hearAll(session, begun, timeouts);
    return;
  }
  const ask = (stage: SmtpStage, command: string, timeoutMs: number): Promise<Said> => {
    session.wire.write(command);
    return hear(session, begun, stage, timeoutMs);
  };
  if (reset !== '') await ask('mail', reset, timeouts.mailMs);
  if (!noteSender(begun, await ask('mail', begun.mail, timeouts.mailMs))) return;
  for (const [position, command] of begun.rcpts.entries()) {
    noteRecipient(begun, position, await ask('rcpt', command, timeouts.rcptMs));
  }
  if (begun.accepted.length > 0) begun.go = await ask('data', 'DATA\r\n', timeouts.dataMs);
}

/** The replies to commandsOf. */
async function hearAll(session: SmtpSession, begun: Begun, timeouts: SmtpTimeouts): Promise<void> {
  const mayBeSent = noteSender(begun, await hear(session, begun, 'mail', timeouts.mailMs));
  for (const position of begun.rcpts.keys()) {
    const reply = await hear(session, begun, 'rcpt', timeouts.rcptMs);
    if (mayBeSent) noteRecipient(begun, position, reply);
  }
  begun.go = await hear(session, begun, 'data', timeouts.dataMs);
}

async function hear(
  { wire }: SmtpSession,
  begun: Begun,
  stage: SmtpStage,
  timeoutMs: number,
): Promise<Said> {
  const reply = await wire.reply(stage, timeoutMs);
  // RFC 5321 3.8: 421 may come at any point and ends the session.
  if (reply.code === 421)
    throw new SmtpFault(stage, `the relay closed: ${reply.text}`, { reply, hungUp: true });
  begun.isHeard = true;
  const isGo = reply.code >= 300 && reply.code < 400;
  if (stage === 'data' ? isOk(reply) : isGo) throw new OutOfOrder(stage, reply);
  return saidAt(stage, reply);
}

/** A reply that no relay gives to this command: it is about another one. */
class OutOfOrder extends SmtpFault {
  constructor(stage: SmtpStage, reply: SmtpReply) {
    super(stage, `the relay answered ${stage.toUpperCase()} with ${reply.text}`);
  }
}

function noteSender({ open, said }: Begun, reply: Said): boolean {
  if (!isOk(reply)) for (const index of open) said[index] = reply;
  return isOk(reply);
}

function noteRecipient({ open, said, accepted }: Begun, position: number, reply: Said): void {
  const index = open[position]!;
  if (isOk(reply)) accepted.push(index);
  else said[index] = reply;
}

/** What is written behind the content of the email in hand. */
function beginNext(session: SmtpSession, findNext: () => Email | undefined): Buffer[] {
  const email = isPipelined(session) ? findNext() : undefined;
  const begun = email && begin(session, email);
  if (begun === undefined || begun.open.length === 0) return [];
  session.next = begun;
  return [Buffer.from(commandsOf(begun))];
}

/** A fault in these replies concerns the email before them only if they are not in order. */
async function hearNext(session: SmtpSession, next: Begun, timeouts: SmtpTimeouts): Promise<void> {
  const wasRefused = session.needsReset;
  session.needsReset = true;
  session.hearsNext = true;
  try {
    await hearAll(session, next, timeouts);
    // Some relays forget an email that they refused only with RSET: this one is proposed again.
    if (wasRefused && next.accepted.length === 0) {
      session.next = undefined;
      if (next.go?.code === 354) session.wire.destroy();
    }
  } catch (fault) {
    session.next = undefined;
    session.wire.destroy();
    if (fault instanceof OutOfOrder || !(fault instanceof SmtpFault)) throw fault;
  } finally {
    session.hearsNext = false;
  }
}

/**
 * The outcome when the dialogue broke off or never began: recipients without a reply are deferred.
 */
export function brokenOff(
  connection: 'unreachable' | 'lost',
  envelope: Envelope,
  said: readonly (Said | undefined)[],
  fault: SmtpFault,
  unconfirmed: boolean,
): HandOver {
  // RFC 3463: 4.4.1 no answer from host, 4.4.2 bad connection. A 5xx at the greeting or login is
  // about us, not the recipient.
  const told: Said | undefined =
    fault.reply !== undefined && fault.reply.code < 500 ? fault.reply : undefined;
  const own =
    told ?? ownReply(421, connection === 'unreachable' ? '4.4.1' : '4.4.2', fault.message);
  const all = envelope.recipients.map((_, index) => said[index] ?? own);
  const outcome = finished(envelope, all, undefined);
  const isUnknown = (index: number) => unconfirmed && said[index] === undefined;
  return {
    ...outcome,
    recipients: outcome.recipients.map((recipient, index) =>
      isUnknown(index) ? { ...recipient, result: 'unknown' } : recipient,
    ),
    connection,
    fault: { stage: fault.stage, text: fault.message },
    unconfirmed,
  };
}

/** Nobody was accepted or refused and no dot was sent: as if it had not been tried. */
export function isUnbegun({ connection, unconfirmed, recipients }: HandOver): boolean {
  return (
    connection !== 'ok' && !unconfirmed && recipients.every(({ result }) => result === 'deferred')
  );
}

function finished(
  envelope: Envelope,
  said: readonly (Said | undefined)[],
  final: SmtpReply | undefined,
): HandOver {
  return {
    connection: 'ok',
    fault: undefined,
    recipients: envelope.recipients.map((recipient, index) => {
      const { code, enhanced, text, stage } = said[index]!;
      const result = code < 300 ? 'accepted' : code < 500 ? 'deferred' : 'refused';
      return { recipient, result, code, enhanced, text, stage };
    }),
    response: final?.text ?? '',
    relayMessageId: final !== undefined && isOk(final) ? queueId(final.text) : undefined,
    unconfirmed: false,
  };
}

/** Refuses what the relay's EHLO says it cannot accept. */
function refuseLocally(
  envelope: Envelope,
  size: number,
  offered: ReadonlyMap<string, string>,
  said: (Said | undefined)[],
): void {
  const limit = Number(offered.get('SIZE') ?? 0);
  if (limit > 0 && size > limit) {
    said.fill(ownReply(552, '5.3.4', `the email has ${size} bytes, the relay accepts ${limit}`));
  } else if (!offered.has('SMTPUTF8')) {
    // RFC 6531 3.2: never send it to a server that does not offer it.
    const reply = ownReply(
      550,
      '5.6.7',
      'the address is not ASCII and the relay does not offer SMTPUTF8',
    );
    envelope.recipients.forEach((recipient, index) => {
      if (envelope.smtputf8 || needsUtf8(recipient)) said[index] = reply;
    });
  }
}

/** Postfix, Exim, Sendmail, Exchange, Amazon SES, Gmail and servers that imitate them. */
export function queueId(response: string): string | undefined {
  const words = response.replace(/^\d{3}\s+(?:\d\.\d{1,3}\.\d{1,3}\s+)?/, '');
  return (
    /queued(?:_| |-)as[ :]+<?([\w.@-]+)/i.exec(words)?.[1] ??
    /\bid=<?([\w.@-]+)/i.exec(words)?.[1] ??
    /^<([^<>\s]+)> .*queued/i.exec(words)?.[1] ??
    /^([\w-]{10,}) message accepted/i.exec(words)?.[1] ??
    /^ok:?\s+(?:\d+ )?([\w.-]{10,})(?: - gsmtp)?$/i.exec(words)?.[1]
  );
}

function isOk(reply: SmtpReply): boolean {
  return reply.code < 300;
}

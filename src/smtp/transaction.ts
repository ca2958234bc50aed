// One email over one session: MAIL, RCPT for each recipient, DATA, the email, the final reply.
// Before: relay.ts picked a session. After: attempt.ts reads the outcome of each recipient.
// Outcomes are values; only bugs throw.
//
// RFC 2920 3.1: the commands of the next email may be written together with the content of this
// one. An email then takes one round trip instead of two. Nothing is believed until all replies to
// what was written are there: RFC 2920 3.2 wants them in order, but a relay that works on content
// in the background may answer the commands behind it first.
import { dataPieces } from './data.ts';
import type { Envelope } from './envelope.ts';
import {
  commandsOf,
  draft,
  type Email,
  hearAll,
  isOk,
  isPipelined,
  OutOfOrder,
  type Proposal,
  propose,
  type Said,
  saidAt,
} from './proposal.ts';
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
  const proposal = session.next ?? draft(session, email);
  const { envelope, size, said, accepted } = proposal;
  session.next = undefined;
  if (proposal.open.length === 0) return done(finished(envelope, said, undefined));

  const reused = session.emails > 0;
  session.emails++;
  session.bodyBegun = false;
  session.dotSent = false;
  try {
    if (proposal.go === undefined) await propose(session, proposal, timeouts);
    const { go } = proposal;
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
      stale: reused && !proposal.isHeard && fault.hungUp,
      inOrder: !(fault instanceof OutOfOrder),
    };
  }
}

/** What is written behind the content of the email in hand. */
function beginNext(session: SmtpSession, findNext: () => Email | undefined): Buffer[] {
  const email = isPipelined(session) ? findNext() : undefined;
  const proposal = email && draft(session, email);
  if (proposal === undefined || proposal.open.length === 0) return [];
  session.next = proposal;
  return [Buffer.from(commandsOf(proposal))];
}

/** A fault in these replies concerns the email before them only if they are not in order. */
async function hearNext(
  session: SmtpSession,
  next: Proposal,
  timeouts: SmtpTimeouts,
): Promise<void> {
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

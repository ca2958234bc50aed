// One email over one session: MAIL, RCPT for each recipient, DATA, the email, the final reply.
// Before: relay.ts picked a session. After: attempt.ts reads the outcome of each recipient.
// Outcomes are values; only bugs throw.
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
}

// One write of 4 KB costs 1 µs of copying; seven small writes cost 10 µs of stream machinery.
const SMALL = 65_536;

/** Sends one email. Afterwards the session is usable again if its wire is. */
export async function sendEmail(
  session: SmtpSession,
  envelope: Envelope,
  chunks: readonly Chunk[],
  timeouts: SmtpTimeouts,
): Promise<Transaction> {
  const { wire, capabilities } = session;
  const said = new Array<Said | undefined>(envelope.recipients.length);
  const size = lengthOf(chunks);
  refuseLocally(envelope, size, capabilities, said);
  const open = [...said.keys()].filter((index) => said[index] === undefined);
  if (open.length === 0) return { handOver: finished(envelope, said, undefined), stale: false };

  const utf8 = envelope.smtputf8 || open.some((index) => needsUtf8(envelope.recipients[index]!));
  const mail = mailCommand(envelope, size, utf8, capabilities);
  const rcpts = open.map((index) => rcptCommand(envelope.recipients[index]!, capabilities));
  // RFC 2920: everything up to DATA in one write, answers read in order. Without it, one by one.
  const pipelined = capabilities.has('PIPELINING');
  const reset = session.needsReset ? 'RSET\r\n' : '';
  const reused = session.emails > 0;
  let heard = false;
  const ask = async (stage: SmtpStage, command: string, timeoutMs: number): Promise<Said> => {
    if (!pipelined) wire.write(command);
    const reply = await wire.reply(stage, timeoutMs);
    // RFC 5321 3.8: 421 may come at any point and ends the session.
    if (reply.code === 421)
      throw new SmtpFault(stage, `the relay closed: ${reply.text}`, { reply, hungUp: true });
    heard = true;
    return saidAt(stage, reply);
  };

  session.emails++;
  session.needsReset = true;
  session.bodyBegun = false;
  session.dotSent = false;
  try {
    if (pipelined) wire.write(`${reset}${mail}${rcpts.join('')}DATA\r\n`);
    if (reset !== '') await ask('mail', reset, timeouts.mailMs);
    const sender = await ask('mail', mail, timeouts.mailMs);
    if (!isOk(sender)) for (const index of open) said[index] = sender;
    if (!isOk(sender) && !pipelined)
      return { handOver: finished(envelope, said, undefined), stale: false };
    const accepted: number[] = [];
    for (const [position, index] of open.entries()) {
      const reply = await ask('rcpt', rcpts[position]!, timeouts.rcptMs);
      if (!isOk(sender)) continue;
      if (isOk(reply)) accepted.push(index);
      else said[index] = reply;
    }
    if (accepted.length === 0 && !pipelined)
      return { handOver: finished(envelope, said, undefined), stale: false };
    const go = await ask('data', 'DATA\r\n', timeouts.dataMs);
    if (go.code === 354 && accepted.length === 0) {
      // RFC 2920 3.1: the relay accepts DATA without recipients. It gets an empty email, which goes
      // nowhere.
      wire.write('.\r\n');
      await wire.reply('body', timeouts.finalMs);
      return { handOver: finished(envelope, said, undefined), stale: false };
    }
    if (isOk(go)) throw new SmtpFault('data', `the relay answered DATA with ${go.text}`);
    let final = go;
    if (go.code === 354) {
      // A reply that has already arrived cannot be about the email.
      if (!wire.isQuiet())
        throw new SmtpFault('data', 'the relay sent more replies than it was asked for');
      // Not only when the system confirms the dot: by then the relay may have it too, and have
      // answered or hung up. An email sent in one write is in doubt from its first byte on.
      const pieces = dataPieces(chunks, () => {
        session.dotSent = true;
      });
      let taken = true;
      session.bodyBegun = true;
      if (size <= SMALL) wire.write(Buffer.concat([...pieces]));
      else taken = await wire.writeAll(pieces, 'body', timeouts.blockMs);
      final = saidAt('body', await wire.reply('body', timeouts.finalMs));
      session.needsReset = !isOk(final);
      if (!session.dotSent && isOk(final))
        throw new SmtpFault('body', 'the relay accepted the email before it had all of it');
      // What is left of the email would be read as commands.
      if (!session.dotSent || !taken) wire.destroy();
    }
    for (const index of accepted) said[index] = final;
    if (final.code === 421) wire.destroy();
    return {
      handOver: finished(envelope, said, go.code === 354 ? final : undefined),
      stale: false,
    };
  } catch (fault) {
    if (!(fault instanceof SmtpFault)) throw fault;
    wire.destroy();
    return {
      handOver: brokenOff('lost', envelope, said, fault, session.dotSent),
      stale: reused && !heard && fault.hungUp,
    };
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

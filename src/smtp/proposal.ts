// MAIL, RCPT and DATA for one email, and what the relay replies to them. Before: transaction.ts
// has an email and a session. After: it sends the content for those who were accepted.
import { type Chunk, lengthOf } from '../bytes/chunks.ts';
import { type Envelope, mailCommand, needsUtf8, rcptCommand } from './envelope.ts';
import { ownReply, type SmtpReply } from './reply.ts';
import { SmtpFault, type SmtpStage, type Wire } from './wire.ts';

export interface Email {
  envelope: Envelope;
  chunks: readonly Chunk[];
}

/** An email's commands, and what the relay has replied to them so far. */
export interface Proposal {
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

/** See SmtpTimeouts. */
interface Waits {
  mailMs: number;
  rcptMs: number;
  dataMs: number;
}

/** The part of a session that this takes. */
export interface Dialogue {
  wire: Wire;
  /** EHLO keywords in upper case with their parameters. */
  capabilities: ReadonlyMap<string, string>;
  /** The last transaction was abandoned halfway, so the next one starts with RSET. */
  needsReset: boolean;
}

export type Said = SmtpReply & { stage?: SmtpStage };

/** Every reply belongs to one command, so it can carry the stage. */
export const saidAt = (stage: SmtpStage, reply: SmtpReply): Said => Object.assign(reply, { stage });

export function draft({ capabilities }: Dialogue, { envelope, chunks }: Email): Proposal {
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
export const isPipelined = ({ capabilities }: Dialogue): boolean => capabilities.has('PIPELINING');

export const commandsOf = ({ mail, rcpts }: Proposal): string => `${mail}${rcpts.join('')}DATA\r\n`;

export async function propose(
  dialogue: Dialogue,
  proposal: Proposal,
  timeouts: Waits,
): Promise<void> {
  const reset = dialogue.needsReset ? 'RSET\r\n' : '';
  dialogue.needsReset = true;
  if (isPipelined(dialogue)) {
    dialogue.wire.write(reset + commandsOf(proposal));
    if (reset !== '') await hear(dialogue, proposal, 'mail', timeouts.mailMs);
    await hearAll(dialogue, proposal, timeouts);
    return;
  }
  const ask = (stage: SmtpStage, command: string, timeoutMs: number): Promise<Said> => {
    dialogue.wire.write(command);
    return hear(dialogue, proposal, stage, timeoutMs);
  };
  if (reset !== '') await ask('mail', reset, timeouts.mailMs);
  if (!noteSender(proposal, await ask('mail', proposal.mail, timeouts.mailMs))) return;
  for (const [position, command] of proposal.rcpts.entries()) {
    noteRecipient(proposal, position, await ask('rcpt', command, timeouts.rcptMs));
  }
  if (proposal.accepted.length > 0) proposal.go = await ask('data', 'DATA\r\n', timeouts.dataMs);
}

/** The replies to commandsOf. */
export async function hearAll(
  dialogue: Dialogue,
  proposal: Proposal,
  timeouts: Waits,
): Promise<void> {
  const mayBeSent = noteSender(proposal, await hear(dialogue, proposal, 'mail', timeouts.mailMs));
  for (const position of proposal.rcpts.keys()) {
    const reply = await hear(dialogue, proposal, 'rcpt', timeouts.rcptMs);
    if (mayBeSent) noteRecipient(proposal, position, reply);
  }
  proposal.go = await hear(dialogue, proposal, 'data', timeouts.dataMs);
}

async function hear(
  { wire }: Dialogue,
  proposal: Proposal,
  stage: SmtpStage,
  timeoutMs: number,
): Promise<Said> {
  const reply = await wire.reply(stage, timeoutMs);
  // RFC 5321 3.8: 421 may come at any point and ends the session.
  if (reply.code === 421)
    throw new SmtpFault(stage, `the relay closed: ${reply.text}`, { reply, hungUp: true });
  proposal.isHeard = true;
  const isGo = reply.code >= 300 && reply.code < 400;
  if (stage === 'data' ? isOk(reply) : isGo) throw new OutOfOrder(stage, reply);
  return saidAt(stage, reply);
}

/** A reply that no relay gives to this command: it is about another one. */
export class OutOfOrder extends SmtpFault {
  constructor(stage: SmtpStage, reply: SmtpReply) {
    super(stage, `the relay answered ${stage.toUpperCase()} with ${reply.text}`);
  }
}

function noteSender({ open, said }: Proposal, reply: Said): boolean {
  if (!isOk(reply)) for (const index of open) said[index] = reply;
  return isOk(reply);
}

function noteRecipient({ open, said, accepted }: Proposal, position: number, reply: Said): void {
  const index = open[position]!;
  if (isOk(reply)) accepted.push(index);
  else said[index] = reply;
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

export function isOk(reply: SmtpReply): boolean {
  return reply.code < 300;
}

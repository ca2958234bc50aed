// Finds the message that an operation is about, and checks whether its caller may read the content.
import { Problem } from '../errors.ts';
import { readUuid } from '../ids.ts';
import { findOwnMessage, type Message } from '../messages/message.ts';
import type { Database } from '../store/pool.ts';
import type { Via } from './operation.ts';

/** The uuid behind the id, or a Problem that there is none. */
export function messageUuid(id: string): string {
  const uuid = readUuid('msg_', id);
  if (uuid === undefined) throw noMessage(id);
  return uuid;
}

export const noMessage = (id: string): Problem =>
  new Problem(
    'not-found',
    `This account has no message ${id.slice(0, 64)}. Check the id; messages are kept for a limited time.`,
  );

export const noContent = (id: string): Problem =>
  new Problem(
    'not-found',
    `The content of ${id.slice(0, 64)} was deleted: it is past its retention, or the service itself wrote the email and has handed it over.`,
  );

export async function requireMessage(
  database: Database,
  accountId: number,
  id: string,
): Promise<Message & { uuid: string }> {
  const uuid = messageUuid(id);
  const message = await findOwnMessage(database, accountId, uuid);
  if (message === undefined) throw noMessage(id);
  return { ...message, uuid };
}

/** The message, unless its content is for its reader only. */
export async function requireOpen(
  database: Database,
  accountId: number,
  id: string,
  via: Via,
): Promise<Message & { uuid: string }> {
  const message = await requireMessage(database, accountId, id);
  if (isSealed(message.door, via)) throw sealed();
  return message;
}

/**
 * Emails of the service itself carry links that act for their reader: join, verify, choose a
 * password. They are in the lists of the account that sent them, but its people and programs must
 * not read them: only operators may, who could do as much anyway.
 */
export const isSealed = (door: string, { person, door: through }: Pick<Via, 'person' | 'door'>) =>
  door === 'system' && through !== 'cli' && person?.operator !== true;

export const sealed = (): Problem =>
  new Problem(
    'forbidden',
    'The service itself wrote this email, and its link is for its reader only. Where it was captured, an operator can look at it in the sandbox.',
  );

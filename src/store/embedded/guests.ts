// What the owner of a data folder and all other processes say to each other over the lock's socket.
// Before it: lock.ts connects them. After it: open.ts continues as owner or guest.

import type { Socket } from 'node:net';
import type { Problem } from '../../errors.ts';

interface Message {
  /**
   * Sent by the owner at once: true for the service, false for a command that owns the folder for
   * now.
   */
  service?: boolean;
  /** Sent by a visitor that wants to use the owner's server for as long as it stays connected. */
  join?: true;
  /** Sent to those visitors once the server accepts connections. */
  url?: string;
}

export type Reception = ReturnType<typeof openReception>;

/** The owner's side. */
export function openReception(service: boolean) {
  const guests = new Map<Socket, Promise<void>>();
  let url: string | undefined;
  let closing = false;
  return {
    receive(visitor: Socket): void {
      tell(visitor, { service });
      listenTo(visitor, ({ join }) => {
        if (!join || closing) return; // when closing, it will see the connection end, and try again
        const gone = new Promise<void>((resolve) => {
          visitor.once('close', resolve);
        });
        guests.set(visitor, gone);
        gone.then(() => guests.delete(visitor));
        if (url !== undefined) tell(visitor, { url });
      });
    },
    open(serverUrl: string): void {
      url = serverUrl;
      for (const guest of guests.keys()) tell(guest, { url });
    },
    /** The service stops at once; a command that owns the server for now lets its guests finish. */
    async close(): Promise<void> {
      closing = true;
      if (!service) await Promise.all(guests.values());
    },
  };
}

/**
 * Waits until the living owner sends the url, or is gone (undefined). The service waits for
 * commands, never for another service.
 */
export async function askOwner(
  owner: Socket,
  as: 'owner' | 'guest',
  inUse: Problem,
): Promise<string | undefined> {
  let patience: NodeJS.Timeout | undefined;
  try {
    return await new Promise((resolve, reject) => {
      patience = setTimeout(reject, 60_000, inUse);
      owner.once('close', () => resolve(undefined));
      listenTo(owner, ({ service, url }) => {
        if (service && as === 'owner') reject(inUse);
        if (url !== undefined) resolve(url);
      });
      if (as === 'guest') tell(owner, { join: true });
    });
  } catch (problem) {
    owner.destroy();
    throw problem;
  } finally {
    clearTimeout(patience);
  }
}

function tell(socket: Socket, message: Message): void {
  socket.write(`${JSON.stringify(message)}\n`);
}

function listenTo(socket: Socket, onMessage: (message: Message) => void): void {
  let rest = '';
  socket.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    try {
      for (const line of lines) onMessage(JSON.parse(line));
    } catch {
      socket.destroy(); // not one of us
    }
  });
}

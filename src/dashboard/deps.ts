// What the dashboard's routes work with; built once by main.ts.
import type { IncomingMessage } from 'node:http';
import type { OperationDeps } from '../operations/deps.ts';
import type { Asking } from '../process/asked.ts';
import type { Service } from './views/session.ts';

export interface DashboardDeps extends OperationDeps {
  /** Signs links for a new password. */
  resetKey: Buffer;
  /** Signs challenges for passkeys, and tickets to the second factor. */
  factorKey: Buffer;
  service: () => Service;
  /** IP address, even behind a proxy, and program of the client. */
  requesterOf: (request: IncomingMessage) => { ipAddress: string; userAgent: string };
  /** A signed-in person opened the dashboard at this origin. */
  noteOpenedAt: (origin: string | undefined) => void;
  asking: Asking;
  /**
   * What the first owner must know: the end of the link that the service prints while nobody can
   * sign in.
   */
  setUpToken: string;
  /** Where the built pages are. */
  pagesFolder: string;
}

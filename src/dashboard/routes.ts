// Every route of the contract with what it does. One that is missing does not compile.
import type { Works } from './route.ts';
import { accountRoutes, operatorRoutes } from './routes/account.ts';
import { keyRoutes } from './routes/keys.ts';
import { messageRoutes } from './routes/messages.ts';
import { overviewRoutes } from './routes/overview.ts';
import { sandboxRoutes } from './routes/sandbox.ts';
import { senderRoutes } from './routes/senders.ts';
import { serviceRoutes } from './routes/service.ts';
import { sessionRoutes } from './routes/session.ts';
import { teamRoutes } from './routes/team.ts';

export const WORKS: Works = {
  ...sessionRoutes,
  ...overviewRoutes,
  ...messageRoutes,
  ...senderRoutes,
  ...keyRoutes,
  ...sandboxRoutes,
  ...teamRoutes,
  ...accountRoutes,
  ...operatorRoutes,
  ...serviceRoutes,
};

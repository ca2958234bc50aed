// Every route of the contract with what it does. One that is missing does not compile.
import type { Works } from './route.ts';
import { accountRoutes, operatorRoutes } from './routes/account.ts';
import { keyRoutes } from './routes/keys.ts';
import { liveRoutes } from './routes/live.ts';
import { overviewRoutes } from './routes/overview.ts';
import { senderRoutes } from './routes/senders.ts';
import { serviceRoutes } from './routes/service.ts';
import { sessionRoutes } from './routes/session.ts';
import { teamRoutes } from './routes/team.ts';

export const WORKS: Works = {
  ...sessionRoutes,
  ...overviewRoutes,
  ...liveRoutes,
  ...senderRoutes,
  ...keyRoutes,
  ...teamRoutes,
  ...accountRoutes,
  ...operatorRoutes,
  ...serviceRoutes,
};

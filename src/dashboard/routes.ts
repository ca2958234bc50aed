// Every route of the contract with its implementation. A missing one does not compile.
import type { Works } from './route.ts';
import { factorRoutes } from './routes/factors.ts';
import { liveRoutes } from './routes/live.ts';
import { sessionRoutes } from './routes/session.ts';

export const WORKS: Works = {
  ...sessionRoutes,
  ...factorRoutes,
  ...liveRoutes,
};

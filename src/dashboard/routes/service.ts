// The service itself, for operators: which processes run, and whether a role is missing.
import { describeRole, listProcesses, readRoles } from '../../store/processes.ts';
import type { Works } from '../route.ts';

export const serviceRoutes: Works<'getServiceState'> = {
  getServiceState: {
    async run({ database }) {
      const states = await readRoles(database);
      return {
        roles: states.map((state) => ({
          role: state.role,
          running: state.running,
          missing: state.missing,
          detail: describeRole(state),
        })),
        processes: await listProcesses(database),
      };
    },
  },
};

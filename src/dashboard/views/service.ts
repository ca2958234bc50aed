// The service's processes and roles, for operators. Types only, so that web/ reads them too.

export interface ServiceState {
  roles: RoleRow[];
  processes: ProcessRow[];
}

export interface RoleRow {
  role: string;
  /** Processes with it that were seen lately. */
  running: number;
  /** None runs, and one should. */
  missing: boolean;
  /** How it does, in a sentence. */
  detail: string;
}

export interface ProcessRow {
  host: string;
  pid: number;
  roles: string[];
  version: string;
  startedAt: string;
}

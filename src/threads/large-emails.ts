// What runs in the threads for large emails: they have the memory and the time that 25 MB take, and
// none of what strangers write into templates runs in them. roles/shared.ts gives mail/making.ts
// the way to it.
import { collectAll } from '../bytes/garbage.ts';
import { assembleLarge } from '../mail/assembling.ts';
import { serveJobs } from './serve.ts';

const jobs = { 'assemble-large': assembleLarge };

export type LargeEmailJobs = typeof jobs;

// By itself a thread keeps what it left behind, up to 100 MB, until it needs the room again.
serveJobs(jobs, collectAll);

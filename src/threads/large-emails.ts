// What runs in the threads for large emails: they have the memory and the time that 25 MB take, and
// no template code of strangers runs in them. roles/shared.ts connects mail/making.ts to it.
import { collectAll } from '../bytes/garbage.ts';
import { assembleLarge } from '../mail/assembling.ts';
import { serveJobs } from './serve.ts';

const jobs = { 'assemble-large': assembleLarge };

export type LargeEmailJobs = typeof jobs;

// Otherwise a thread keeps its garbage, up to 100 MB, until it needs the room again.
serveJobs(jobs, collectAll);

// What runs in the threads for large mails: they have the memory and the time that 25 MB take, and
// none of what strangers write into templates runs in them. roles/shared.ts gives mail/making.ts
// the way to it.
import { assembleLarge } from '../mail/assembling.ts';
import { serveJobs } from './serve.ts';

const jobs = { 'assemble-large': assembleLarge };

export type LargeMailJobs = typeof jobs;

serveJobs(jobs);

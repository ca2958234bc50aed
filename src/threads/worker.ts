// What runs in the threads. Every job is a plain function of a feature, from data that can be
// cloned to data that can be cloned; main.ts connects features to it, so none of them knows about
// threads.
import { readReceived, verifyReceived } from '../feedback/received.ts';
import { htmlToPlainText } from '../html/plain-text.ts';
import { lint } from '../lint/lint.ts';
import { type CatalogFiles, openCatalog } from '../templates/catalog.ts';
import { createEmailMaker } from '../templates/email-maker.ts';
import { given, serveJobs } from './serve.ts';

const { make, check } = createEmailMaker(openCatalog(given<CatalogFiles>()));

const jobs = {
  'make-mail': make,
  'check-template': check,
  'write-text': htmlToPlainText,
  'lint-email': lint,
  'read-report': readReceived,
  'verify-report': verifyReceived,
};

export type ServiceJobs = typeof jobs;

serveJobs(jobs);

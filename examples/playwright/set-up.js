// Before all tests: Sandmartin for this run, then the program under test. Both end with the run.
import { startSandbox } from 'sandmartin/testing';
import { startApp } from './app.js';

export default async function setUp() {
  const sandbox = await startSandbox({ senders: ['acme.example'] });
  const app = await startApp();
  process.env.APP_URL = app.url;
  return async () => {
    await app.stop();
    await sandbox.stop();
  };
}

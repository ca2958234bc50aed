// A service for a test run, started from the test's own setup: `sandmartin serve --sandbox` as a
// child. It ends with this process, whatever happens to it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export interface RunningSandbox {
  baseUrl: string;
  apiKey: string;
  stop(): Promise<void>;
}

const PROGRAM = fileURLToPath(new URL('../../bin/sandmartin.js', import.meta.url));

/**
 * Starts it and sets SANDMARTIN_URL and SANDMARTIN_API_KEY in this process. `senders`: domains and
 * addresses that the program under test sends from.
 */
export async function startSandbox({
  senders = [],
}: {
  senders?: readonly string[];
} = {}): Promise<RunningSandbox> {
  const options = senders.flatMap((sender) => ['--sender', sender]);
  const child = spawn(process.execPath, [PROGRAM, 'serve', '--sandbox', ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const lines = createInterface({ input: child.stdout });
  const [line] = (await Promise.race([once(lines, 'line'), exited])) as [unknown];
  if (typeof line !== 'string') throw new Error('The sandbox did not start. Its log says why.');
  const { base_url: baseUrl, api_key: apiKey } = JSON.parse(line);
  process.env.SANDMARTIN_URL = baseUrl;
  process.env.SANDMARTIN_API_KEY = apiKey;
  return {
    baseUrl,
    apiKey,
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

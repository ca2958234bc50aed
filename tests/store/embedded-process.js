// A process that opens the embedded database of a folder and holds it until its stdin ends or
// SIGTERM; embedded-support.ts starts it. Of what was built: a dozen of these start in a test run,
// and TypeScript would take most of their time.

import { openEmbedded } from '../../dist/store/embedded/open.js';

const [dataDir = '', as] = process.argv.slice(2);
const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);

try {
  const database = await openEmbedded(dataDir, {
    as: as === 'guest' ? 'guest' : 'owner',
    log: (log) => say({ log }),
  });
  const finish = async () => {
    await database.stop();
    process.exit(0);
  };
  process.once('SIGTERM', finish);
  process.once('SIGUSR2', () => process.exit(3));
  say({ url: database.url });
  process.stdin.on('end', finish).resume();
} catch (error) {
  say({ problem: error.message });
  process.exitCode = 1;
}

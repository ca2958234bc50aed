// npm run test:nodes [-- --campaigns | FILES…]: npm test and the campaigns in which Node itself
// takes part (or all campaigns, or single test files) on each Node that Sandmartin runs on: the
// oldest, 22, and 24, which is recommended. The binaries come from npm and lie in .artifacts/nodes.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const VERSIONS = ['20.19', '22', '24'];
/** Installs and processes of several versions; the other campaigns are about our own code. */
const OF_NODE = ['package', 'checkout', 'majors', 'rolling-upgrade'].map(
  (name) => `tests/install/${name}.test.ts`,
);
const given = process.argv.slice(2);
const failed = [];

for (const version of VERSIONS) {
  const bin = binOf(version);
  const env = { ...process.env, PATH: `${bin}:${process.env.PATH}` };
  const found = execFileSync(join(bin, 'node'), ['--version'], { encoding: 'utf8' }).trim();
  for (const words of commands()) {
    process.stdout.write(`\n── Node ${found}: ${words.join(' ')}\n`);
    const { status } = spawnSync(words[0], words.slice(1), { cwd: root, env, stdio: 'inherit' });
    if (status !== 0) failed.push(`${found} (${words.join(' ')})`);
  }
}
process.stdout.write(
  failed.length === 0 ? '\nAll passed.\n' : `\nFailed on ${failed.join(', ')}.\n`,
);
process.exit(failed.length === 0 ? 0 : 1);

function commands() {
  const some = (files) => ['npx', 'vitest', 'run', ...files];
  if (given.length === 0) return [['npm', 'test'], some(OF_NODE)];
  if (given[0] !== '--campaigns') return [some(given)];
  return [
    ['npm', 'test'],
    ['npm', 'run', 'test:campaigns'],
  ];
}

function binOf(version) {
  const name = `node-${process.platform}-${process.arch}`;
  const folder = join(root, '.artifacts/nodes', version);
  const bin = join(folder, 'node_modules', name, 'bin');
  if (!existsSync(bin)) {
    const args = [
      'install',
      '--no-save',
      '--no-package-lock',
      '--prefix',
      folder,
      `${name}@${version}`,
    ];
    execFileSync('npm', args, { cwd: root, stdio: 'inherit' });
  }
  return bin;
}

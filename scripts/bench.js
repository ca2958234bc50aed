// npm run bench NAME: runs one benchmark of bench/, each of which prints ratios measured in one run.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [name, ...rest] = process.argv.slice(2);
const file = join(root, 'bench', `${name}.ts`);
if (name === undefined || !existsSync(file)) {
  const known = readdirSync(join(root, 'bench'))
    .filter((entry) => entry.endsWith('.ts'))
    .map((entry) => entry.slice(0, -3));
  process.stderr.write(`Name a benchmark: npm run bench ${known.join(' | ')}\n`);
  process.exit(1);
}
const run = spawnSync(process.execPath, ['--import', 'tsx', file, ...rest], {
  cwd: root,
  stdio: 'inherit',
});
process.exit(run.status ?? 1);

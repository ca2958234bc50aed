// Prints the lines of src/store/embedded/pinned.ts for the version of PostgreSQL in package.json,
// from the packages as the registry has them: node scripts/pin-postgres.js (after npm run build).
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { digestOf } from '../dist/store/embedded/pinned.js';

const { optionalDependencies } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
);
for (const [name, version] of Object.entries(optionalDependencies)) {
  const folder = mkdtempSync(join(tmpdir(), 'pin-postgres-'));
  const options = { cwd: folder, encoding: 'utf8' };
  const packed = execFileSync('npm', ['pack', '--silent', `${name}@${version}`], options).trim();
  execFileSync('tar', ['xzf', packed], options);
  const native = join(folder, 'package/native');
  const files = readdirSync(native, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((from) => ({ path: relative(native, from), from }));
  process.stdout.write(`  '${name.split('/')[1]}': '${digestOf(files)}',\n`);
  rmSync(folder, { recursive: true });
}

// dist/ from src/, without the pages: every module and its types by TypeScript, the SQL beside
// them, and the programs that people start bundled (bundle.js). Before: build.js, or the tests'
// set-up, which says --noCheck: `npm run check` has looked at the types, or will.
import { spawnSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from './bundle.js';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const tsc = join(
  dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
  'bin/tsc',
);

const asked = process.argv.includes('--noCheck') ? ['--noCheck'] : [];
const types = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json', ...asked], {
  cwd: root,
  stdio: 'inherit',
});
if (types.status !== 0) process.exit(types.status ?? 1);
for (const folder of ['migrations', 'functions']) {
  const built = join(root, 'dist/store', folder);
  rmSync(built, { recursive: true, force: true });
  cpSync(join(root, 'src/store', folder), built, { recursive: true });
}
await bundle();

// Builds dist/ from src/ and web/: compiles the TypeScript, copies the SQL migrations beside it, bundles the dashboard.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const tsc = join(
  dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
  'bin/tsc',
);

rmSync(join(root, 'dist'), { recursive: true, force: true });
const compile = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], {
  cwd: root,
  stdio: 'inherit',
});
if (compile.status !== 0) process.exit(compile.status ?? 1);
for (const folder of ['migrations', 'functions']) {
  cpSync(join(root, 'src/store', folder), join(root, 'dist/store', folder), { recursive: true });
}
linkCommand();
await build({ configFile: join(root, 'web/vite.config.ts'), logLevel: 'warn' });

/**
 * `npx sandmartin` in the checkout finds the command here at once. A `bin` in package.json would make npx install the
 * checkout into its own cache first, which takes seconds and builds dist/ anew under a running service.
 */
function linkCommand() {
  const folder = join(root, 'node_modules/.bin');
  mkdirSync(folder, { recursive: true });
  rmSync(join(folder, 'sandmartin'), { force: true });
  symlinkSync('../../bin/sandmartin.js', join(folder, 'sandmartin'));
}

// Run by `npm ci` and `npm install`: builds dist/. Without the development dependencies
// (`--omit=dev`, NODE_ENV=production) nothing can be built, and nothing has to be where dist/ came
// along; bin/sandmartin.js says so where it did not.
// `npx sandmartin` in a checkout comes by here too: it must not build dist/ again under a running
// service.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';

const canBuild = () => {
  try {
    return createRequire(import.meta.url).resolve('vite/package.json') !== '';
  } catch {
    return false;
  }
};
const isBuilt = existsSync(new URL('../dist/cli/main.js', import.meta.url));
const isNpx = process.env.npm_command === 'exec';
if (canBuild() && !(isNpx && isBuilt)) await import('./build.js');

#!/usr/bin/env node
import { existsSync } from 'node:fs';

const program = new URL('../dist/cli/main.js', import.meta.url);
if (existsSync(program)) await import(program.href);
else {
  process.stderr.write(
    'Sandmartin is not built: dist/ is missing. Run "npm ci" with the development dependencies (not --omit=dev, not NODE_ENV=production); after that "npm prune --omit=dev" removes what only the build needs.\n',
  );
  process.exitCode = 1;
}

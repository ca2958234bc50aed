// Builds dist/ from src/ and web/: the programs (compile.js), and the dashboard's pages.
import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

rmSync(join(root, 'dist'), { recursive: true, force: true });
await import('./compile.js');
await build({ configFile: join(root, 'web/vite.config.ts'), logLevel: 'warn' });

// Other people's tools that read openapi.json. They are installed separately
// (tests/openapi/tools/package.json says why); if they are missing, tests say so and are skipped.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export const ROOT = join(import.meta.dirname, '../..');
export const TOOL_MODULES = join(import.meta.dirname, 'tools/node_modules');

export const missing = !existsSync(TOOL_MODULES);
if (missing) {
  process.stderr.write(
    '\n*** TESTS WITH REDOCLY, SPECTRAL, OPENAPI-TYPESCRIPT AND ORVAL SKIPPED: run npm ci --prefix tests/openapi/tools\n\n',
  );
}

const PROGRAMS = {
  redocly: '@redocly/cli/bin/cli.js',
  spectral: '@stoplight/spectral-cli/dist/index.js',
  'openapi-typescript': 'openapi-typescript/bin/cli.js',
  orval: 'orval/dist/bin/orval.js',
};

/** Our own compiler: theirs, which generates, takes ten times as long. */
export const compile = (folder: string): Promise<string> =>
  runNode([join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', folder], folder);

/** What it printed; fails with it when the tool does. Nothing is reported home. */
export async function runTool(
  tool: keyof typeof PROGRAMS,
  args: string[],
  cwd: string = ROOT,
): Promise<string> {
  const env = {
    ...process.env,
    REDOCLY_TELEMETRY: 'off',
    REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
    NO_COLOR: '1',
  };
  return await runNode([join(TOOL_MODULES, PROGRAMS[tool]), ...args], cwd, env);
}

export async function runNode(args: string[], cwd: string, env = process.env): Promise<string> {
  try {
    const { stdout, stderr } = await run(process.execPath, args, { cwd, env });
    return stdout + stderr;
  } catch (error) {
    const { stdout = '', stderr = '', message } = error as Error & Record<string, string>;
    throw new Error(`${message}\n${stdout}\n${stderr}`);
  }
}

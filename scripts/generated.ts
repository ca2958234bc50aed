// Writes the files that are made from code (npm run generate), or fails when one is stale
// (--check).
import { readFileSync, writeFileSync } from 'node:fs';
import { describeConfig } from '../src/config/settings.ts';
import { describeApi } from '../src/rest/openapi/document.ts';
import { loadCatalog } from '../src/templates/catalog.ts';
import { describeCatalog } from './describe-catalog.ts';
import { describeClient } from './describe-client.ts';
import { PERFORMANCE, withFigures } from './describe-figures.ts';
import { OPERATIONS_PAGE, withLogFields } from './describe-log.ts';
import { withTables } from './describe-operations.ts';
import { SCALE, withCapacity } from './describe-scale.ts';

const generated: Record<string, string> = {
  'docs/api.md': withTables('docs/api.md'),
  'docs/mcp.md': withTables('docs/mcp.md'),
  [PERFORMANCE]: withFigures(),
  [SCALE]: withCapacity(),
  [OPERATIONS_PAGE]: withLogFields(),
  'docs/configuration.md': describeConfig(),
  'docs/template-catalogue.md': describeCatalog(loadCatalog('catalog')),
  'src/client/operations.ts': describeClient(),
  'openapi.json': `${JSON.stringify(describeApi(), null, 2)}\n`,
};

const stale = Object.entries(generated).filter(([file, text]) => read(file) !== text);
if (process.argv.includes('--check')) {
  for (const [file] of stale) process.stderr.write(`${file} is stale: run npm run generate\n`);
  process.exitCode = stale.length === 0 ? 0 : 1;
} else {
  for (const [file, text] of stale) writeFileSync(file, text);
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

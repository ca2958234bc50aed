// What a backup holds of the secret: the installation's own under a passphrase, a verifier of
// SECRET_KEY, or nothing.
import { randomBytes, scryptSync } from 'node:crypto';
import { Problem } from '../../errors.ts';
import { keysOf } from '../installation.ts';
import { seal, unseal } from '../sealing.ts';
import type { BackedUpSecret } from './file.ts';

const LABEL = 'the secret of a backup';
/** A fifth of a second and 128 MB per guess. */
const COST = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 1024 * 1024 };

export function backUpSecret(
  { secret, verifier }: { secret: Buffer | null; verifier: Buffer | null },
  passphrase: string | undefined,
): BackedUpSecret {
  if (secret === null) return { kind: 'SECRET_KEY', verifier: verifier!.toString('base64') };
  if (passphrase === undefined) return { kind: 'left out' };
  const salt = randomBytes(16);
  const box = seal(scryptSync(passphrase, salt, 32, COST), LABEL, secret);
  return { kind: 'sealed', salt: salt.toString('base64'), box: box.toString('base64') };
}

/** The secret of the restored installation; a new one if the old was left out. */
export function restoreSecret(
  backedUp: BackedUpSecret,
  given: { secretKey: string | undefined; passphrase: string | undefined },
): { secret: Buffer | null; verifier: Buffer } {
  if (backedUp.kind === 'SECRET_KEY') {
    const verifier = Buffer.from(backedUp.verifier, 'base64');
    const right = given.secretKey && keysOf(Buffer.from(given.secretKey)).verifier.equals(verifier);
    if (!right) throw new Problem('invalid', given.secretKey ? WRONG_KEY : NO_KEY);
    return { secret: null, verifier };
  }
  const secret = backedUp.kind === 'left out' ? randomBytes(32) : open(backedUp, given.passphrase);
  return { secret, verifier: keysOf(secret).verifier };
}

function open(
  { salt, box }: { salt: string; box: string },
  passphrase: string | undefined,
): Buffer {
  if (passphrase === undefined) throw new Problem('invalid', NO_PASSPHRASE);
  const key = scryptSync(passphrase, Buffer.from(salt, 'base64'), 32, COST);
  const secret = unseal(key, LABEL, Buffer.from(box, 'base64'));
  if (secret === undefined) throw new Problem('invalid', WRONG_PASSPHRASE);
  return secret;
}

const NO_KEY =
  'This backup is from an installation with a SECRET_KEY, which is not in the file. Set SECRET_KEY as it was when the backup was taken, then run this again.';
const WRONG_KEY =
  'SECRET_KEY is not the one that was in force when the backup was taken. Set that one; once the backup is restored, "sandmartin secret rotate" switches to another.';
const NO_PASSPHRASE =
  'The secrets in this backup are sealed with a passphrase. Put it into BACKUP_PASSPHRASE, then run this again.';
const WRONG_PASSPHRASE =
  'BACKUP_PASSPHRASE is not the passphrase that this backup was sealed with.';

// Passwords: stored as scrypt with the parameters of the time, so that these can rise later. Used
// by users.ts. scrypt and not argon2id: it is in node:crypto, runs in the thread pool, and needs no
// third-party binary.
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { createByteBudget } from '../bytes/byte-budget.ts';
import { Problem } from '../errors.ts';

interface Cost {
  N: number;
  r: number;
  p: number;
}

/**
 * OWASP's parameters for 32 MiB; about 300 ms of one core. As strong as N = 2^17, p = 1, which
 * takes 128 MiB.
 */
const COST: Cost = { N: 2 ** 15, r: 8, p: 3 };
const HASH_BYTES = 32;
const SALT_BYTES = 16;

const SHORTEST = 10;
const LONGEST = 200;

const memoryOf = ({ N, r }: Cost): number => 128 * N * r;

/**
 * Two at a time in the process: its thread pool has four threads, and signing email needs some too.
 */
const budget = createByteBudget(2 * memoryOf(COST));

export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const hash = await derive(password, salt, COST);
  return ['scrypt', COST.N, COST.r, COST.p, salt.toString('base64'), hash.toString('base64')].join(
    '$',
  );
}

export async function isPassword(password: string, kept: string): Promise<boolean> {
  const [, N, r, p, salt, hash] = kept.split('$');
  const expected = Buffer.from(hash ?? '', 'base64');
  const cost = { N: Number(N), r: Number(r), p: Number(p) };
  const given = await derive(password, Buffer.from(salt ?? '', 'base64'), cost);
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** Hashed with other parameters than today's. */
export const isOutdated = (kept: string): boolean =>
  !kept.startsWith(`scrypt$${COST.N}$${COST.r}$${COST.p}$`);

/** Nobody's: today's parameters, and a hash that no password has. */
const DECOY = `scrypt$${COST.N}$${COST.r}$${COST.p}$${'A'.repeat(22)}==$AA==`;

/** Takes as long as a wrong password, so that the time does not reveal who has a login. */
export async function pretendToCheck(password: string): Promise<void> {
  await isPassword(password, DECOY);
}

export function requireGoodPassword(password: string, email: string): void {
  const length = [...password].length;
  if (length < SHORTEST || length > LONGEST) {
    throw new Problem(
      'invalid',
      `password: it has ${length} characters; it needs ${SHORTEST} to ${LONGEST}. A few unrelated words are easy to remember.`,
      { at: 'password' },
    );
  }
  if (password.trim().toLowerCase() === email || new Set(password).size < 4) {
    throw new Problem('invalid', 'password: it is too easy to guess. Use a few unrelated words.', {
      at: 'password',
    });
  }
}

/** For logins that a program creates: 100 bits, easy to read and type. */
export function generatePassword(): string {
  const letters = 'abcdefghijkmnpqrstuvwxyz23456789';
  const chosen = [...randomBytes(20)].map((byte) => letters[byte & 31]).join('');
  return chosen.match(/.{5}/g)!.join('-');
}

async function derive(password: string, salt: Buffer, cost: Cost): Promise<Buffer> {
  const release = await budget.take(memoryOf(cost));
  try {
    return await new Promise((resolve, reject) => {
      // The same word typed on two keyboards is the same password (RFC 8265, 4.2).
      const text = password.normalize('NFC');
      const options = { ...cost, maxmem: 2 * memoryOf(cost) };
      scrypt(text, salt, HASH_BYTES, options, (error, hash) =>
        error ? reject(error) : resolve(hash),
      );
    });
  } finally {
    release();
  }
}

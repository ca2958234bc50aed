// What takes long in node:crypto by design, made once instead of each time: every worker of the
// tests loads it first. The keys are real ones and the hashes the right ones; processes of their
// own do all of it themselves.
import crypto, { type KeyObject, type ScryptOptions } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { promisify } from 'node:util';

declare global {
  /** Files share a worker, which loads this for each of them. */
  var cryptoIsQuick: true | undefined;
}

interface RsaPair {
  publicKey: KeyObject;
  privateKey: KeyObject;
}

const { generateKeyPair, generateKeyPairSync, scrypt } = crypto;
const E = 65_537n;

/**
 * All that takes long in a pair of RSA keys is to find its two primes. Each goes with each: ten of
 * them make 45 pairs.
 */
const primes: bigint[] = [];
let partner = 0;

function nextRsaPair(): RsaPair {
  while (partner >= primes.length - 1) {
    primes.push(newPrime());
    partner = 0;
  }
  const [p, q] = [primes.at(-1)!, primes[partner++]!];
  const d = inverse(E, (p - 1n) * (q - 1n));
  const parts = { n: p * q, e: E, d, p, q, dp: d % (p - 1n), dq: d % (q - 1n), qi: inverse(q, p) };
  const key = Object.fromEntries(
    Object.entries(parts).map(([name, value]) => [name, base64url(value)]),
  );
  const privateKey = crypto.createPrivateKey({ key: { kty: 'RSA', ...key }, format: 'jwk' });
  return { privateKey, publicKey: crypto.createPublicKey(privateKey) };
}

function newPrime(): bigint {
  for (;;) {
    const prime = crypto.generatePrimeSync(1024, { bigint: true });
    if ((prime - 1n) % E !== 0n && !primes.includes(prime)) return prime;
  }
}

/** Of `value` modulo `modulus`, by Euclid. */
function inverse(value: bigint, modulus: bigint): bigint {
  let [rest, next, factor, nextFactor] = [modulus, value % modulus, 0n, 1n];
  while (next !== 0n) {
    const times = rest / next;
    [rest, next] = [next, rest - times * next];
    [factor, nextFactor] = [nextFactor, factor - times * nextFactor];
  }
  return ((factor % modulus) + modulus) % modulus;
}

function base64url(value: bigint): string {
  const hex = value.toString(16);
  return Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex').toString('base64url');
}

const isOurs = (type: string, options: { modulusLength?: number; publicKeyEncoding?: unknown }) =>
  type === 'rsa' && options.modulusLength === 2048 && options.publicKeyEncoding === undefined;

type Told<Value> = (error: Error | null, value?: Value) => void;

/** A hash of a password takes a third of a second; the same password of the same person, once. */
const hashes = new Map<string, Promise<Buffer>>();

function quickScrypt(
  password: string,
  salt: Buffer,
  length: number,
  options: ScryptOptions,
  told: Told<Buffer>,
): void {
  const key = JSON.stringify([password, salt.toString('hex'), length, options]);
  const hash =
    hashes.get(key) ??
    promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt)(
      password,
      salt,
      length,
      options,
    );
  hashes.set(key, hash);
  hash.then((value) => told(null, Buffer.from(value)), told);
}

if (globalThis.cryptoIsQuick === undefined) {
  globalThis.cryptoIsQuick = true;
  const pair = promisify(generateKeyPair) as (type: string, options: object) => Promise<RsaPair>;
  Object.assign(crypto, {
    generateKeyPair: Object.assign(
      (...all: Parameters<typeof generateKeyPair>) => generateKeyPair(...all),
      {
        [promisify.custom]: async (type: string, options: object = {}) =>
          isOurs(type, options) ? nextRsaPair() : await pair(type, options),
      },
    ),
    generateKeyPairSync: (type: 'rsa', options: { modulusLength: number }) =>
      isOurs(type, options ?? {}) ? nextRsaPair() : generateKeyPairSync(type, options),
    scrypt: quickScrypt,
  });
  syncBuiltinESMExports();
}

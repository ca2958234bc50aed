// An authenticator in software: makes a key and signs challenges as a security key does, with
// faults where a test wants them.
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import type { PasskeyAssertion } from '../../src/dashboard/views/factors.ts';

export type KeyKind = 'es256' | 'ed25519' | 'rs256';

export interface Faults {
  origin?: string;
  host?: string;
  type?: string;
  flags?: number;
  counter?: number;
}

export interface Authenticator {
  id: string;
  create(challenge: string, faults?: Faults): Omit<PasskeyAssertion, 'signature'>;
  get(challenge: string, faults?: Faults): PasskeyAssertion;
}

const b64 = (bytes: Buffer): string => bytes.toString('base64url');

export function makeAuthenticator(baseUrl: string, kind: KeyKind = 'es256'): Authenticator {
  const { origin, hostname } = new URL(baseUrl);
  const { publicKey, privateKey } = makePair(kind);
  const id = randomBytes(32);
  let count = 0;
  const clientData = (type: string, challenge: string, faults: Faults): Buffer =>
    Buffer.from(
      JSON.stringify({
        type: faults.type ?? type,
        challenge,
        origin: faults.origin ?? origin,
        crossOrigin: false,
      }),
    );
  const dataOf = (flags: number, faults: Faults, rest: Buffer): Buffer => {
    const head = Buffer.alloc(5);
    head[0] = faults.flags ?? flags;
    head.writeUInt32BE(faults.counter ?? ++count, 1);
    const host = createHash('sha256')
      .update(faults.host ?? hostname)
      .digest();
    return Buffer.concat([host, head, rest]);
  };
  return {
    id: b64(id),
    create(challenge, faults = {}) {
      const size = Buffer.alloc(2);
      size.writeUInt16BE(id.length);
      const rest = Buffer.concat([Buffer.alloc(16), size, id, coseKey(publicKey, kind)]);
      return {
        id: b64(id),
        clientData: b64(clientData('webauthn.create', challenge, faults)),
        authenticatorData: b64(dataOf(0x45, faults, rest)),
      };
    },
    get(challenge, faults = {}) {
      const client = clientData('webauthn.get', challenge, faults);
      const data = dataOf(0x05, faults, Buffer.alloc(0));
      const signed = Buffer.concat([data, createHash('sha256').update(client).digest()]);
      const signature = sign(kind === 'ed25519' ? null : 'sha256', signed, privateKey);
      return {
        id: b64(id),
        clientData: b64(client),
        authenticatorData: b64(data),
        signature: b64(signature),
      };
    },
  };
}

function makePair(kind: KeyKind): { publicKey: KeyObject; privateKey: KeyObject } {
  if (kind === 'ed25519') return generateKeyPairSync('ed25519');
  if (kind === 'rs256') return generateKeyPairSync('rsa', { modulusLength: 2048 });
  return generateKeyPairSync('ec', { namedCurve: 'P-256' });
}

/** RFC 9053, written out by hand. */
function coseKey(key: KeyObject, kind: KeyKind): Buffer {
  const jwk = key.export({ format: 'jwk' });
  const bytes = (text: unknown): Buffer => {
    const value = Buffer.from(String(text), 'base64url');
    const head =
      value.length < 256
        ? Buffer.of(0x58, value.length)
        : Buffer.of(0x59, value.length >> 8, value.length & 255);
    return Buffer.concat([head, value]);
  };
  const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');
  if (kind === 'es256') {
    return Buffer.concat([hex('a5 01 02 03 26 20 01 21'), bytes(jwk.x), hex('22'), bytes(jwk.y)]);
  }
  if (kind === 'ed25519') return Buffer.concat([hex('a4 01 01 03 27 20 06 21'), bytes(jwk.x)]);
  return Buffer.concat([hex('a4 01 03 03 39 01 00 20'), bytes(jwk.n), hex('21'), bytes(jwk.e)]);
}

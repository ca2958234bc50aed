// What an authenticator answered, checked (WebAuthn level 2, sections 7.1 and 7.2, with attestation
// "none"): the challenge, the page and the host it was made for, that a person was verified, and
// its signature. Does not touch the database: passkeys.ts does. Our own code, because without
// attestation this file and node:crypto are enough; the libraries bring ASN.1 and a dozen packages
// for the rest.
import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { Problem } from '../errors.ts';

/** Where the pages are: a passkey works there and nowhere else. */
export interface RelyingParty {
  origin: string;
  /** Host name. */
  id: string;
}

export const relyingParty = (baseUrl: string): RelyingParty => {
  const { origin, hostname } = new URL(baseUrl);
  return { origin, id: hostname };
};

/** As pages send it; all in base64url. */
export interface AuthenticatorResponse {
  id: string;
  clientData: string;
  authenticatorData: string;
}

export interface Assertion extends AuthenticatorResponse {
  signature: string;
}

const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;
const HAS_KEY = 0x40;

/** COSE's numbers (RFC 9053) for what browsers offer, in our order of preference. */
export const ALGORITHMS = { ed25519: -8, es256: -7, rs256: -257 } as const;

/** Read separately: the challenge says what else to check. */
export function challengeOf(response: AuthenticatorResponse): string {
  return readClientData(response).challenge;
}

export function readNewKey(
  response: AuthenticatorResponse,
  party: RelyingParty,
): { id: Buffer; key: KeyObject; counter: number } {
  checkClientData(response, 'webauthn.create', party);
  const data = readAuthenticatorData(response, party);
  if ((data.flags & HAS_KEY) === 0) throw notOurs('it carries no key');
  // The first 16 bytes name the authenticator's model, which we do not need.
  const length = data.rest.readUInt16BE(16);
  const id = data.rest.subarray(18, 18 + length);
  if (length === 0 || length > 1023 || !id.equals(bytesOf(response.id))) {
    throw notOurs('its id is not that of the key');
  }
  return { id, key: readCoseKey(data.rest.subarray(18 + length)), counter: data.counter };
}

/** A Problem unless the key signed it. */
export function checkSigned(
  response: Assertion,
  party: RelyingParty,
  key: KeyObject,
): { counter: number } {
  checkClientData(response, 'webauthn.get', party);
  const { counter } = readAuthenticatorData(response, party);
  const clientHash = createHash('sha256').update(bytesOf(response.clientData)).digest();
  const signed = Buffer.concat([bytesOf(response.authenticatorData), clientHash]);
  const digest = key.asymmetricKeyType === 'ed25519' ? null : 'sha256';
  if (!verify(digest, signed, key, bytesOf(response.signature)))
    throw notOurs('the signature is wrong');
  return { counter };
}

function checkClientData(response: AuthenticatorResponse, type: string, party: RelyingParty): void {
  const said = readClientData(response);
  if (said.type !== type) throw notOurs(`it is not a ${type}`);
  if (said.crossOrigin === true) throw notOurs('it was made inside another site');
  if (said.origin !== party.origin) {
    throw new Problem(
      'forbidden',
      `Passkeys work only at ${party.origin}. Open the dashboard there.`,
    );
  }
}

function readClientData({ clientData }: AuthenticatorResponse): ClientData & { challenge: string } {
  let said: ClientData | null;
  try {
    said = JSON.parse(bytesOf(clientData).toString()) as ClientData | null;
  } catch {
    said = null;
  }
  if (typeof said?.challenge !== 'string') throw notOurs('it cannot be read');
  return { ...said, challenge: said.challenge };
}

interface ClientData {
  type?: unknown;
  challenge?: unknown;
  origin?: unknown;
  crossOrigin?: unknown;
}

/** Section 6.1: the host's hash, flags, a counter, then the key if it is new. */
function readAuthenticatorData(
  { authenticatorData }: AuthenticatorResponse,
  party: RelyingParty,
): { flags: number; counter: number; rest: Buffer } {
  const bytes = bytesOf(authenticatorData);
  if (bytes.length < 37) throw notOurs('it is too short');
  const host = createHash('sha256').update(party.id).digest();
  if (!bytes.subarray(0, 32).equals(host)) throw notOurs('it was made for another host');
  const flags = bytes[32]!;
  if ((flags & USER_PRESENT) === 0 || (flags & USER_VERIFIED) === 0) {
    throw notOurs('it did not verify the user: set up a PIN, a fingerprint or face recognition');
  }
  return { flags, counter: bytes.readUInt32BE(33), rest: bytes.subarray(37) };
}

/** RFC 9052 7, 9053 7: a CBOR map of small integers to integers and byte strings. */
function readCoseKey(bytes: Buffer): KeyObject {
  try {
    const key = readCborMap(bytes);
    const part = (label: number): string => (key.get(label) as Buffer).toString('base64url');
    const jwk =
      key.get(3) === ALGORITHMS.es256 && key.get(-1) === 1
        ? { kty: 'EC', crv: 'P-256', x: part(-2), y: part(-3) }
        : key.get(3) === ALGORITHMS.ed25519 && key.get(-1) === 6
          ? { kty: 'OKP', crv: 'Ed25519', x: part(-2) }
          : key.get(3) === ALGORITHMS.rs256
            ? { kty: 'RSA', n: part(-1), e: part(-2) }
            : undefined;
    if (jwk !== undefined) return createPublicKey({ key: jwk, format: 'jwk' });
  } catch (cause) {
    throw notOurs('its key cannot be read', cause);
  }
  throw notOurs('its key is of a kind that was not requested');
}

/** RFC 8949 3: only what a COSE key is made of. Reading past the end throws. */
function readCborMap(bytes: Buffer): Map<number, number | Buffer> {
  let at = 0;
  const head = (): { major: number; value: number } => {
    const first = bytes.readUInt8(at++);
    const [major, info] = [first >> 5, first & 31];
    if (info < 24) return { major, value: info };
    const size = { 24: 1, 25: 2, 26: 4 }[info];
    if (size === undefined) throw new RangeError('a length that no key has');
    const value = bytes.readUIntBE(at, size);
    at += size;
    return { major, value };
  };
  const item = (): number | Buffer => {
    const { major, value } = head();
    if (major === 0) return value;
    if (major === 1) return -1 - value;
    if (major !== 2 || at + value > bytes.length) throw new RangeError('no part of a key');
    at += value;
    return bytes.subarray(at - value, at);
  };
  const { major, value } = head();
  if (major !== 5 || value > 16) throw new RangeError('no map');
  const map = new Map<number, number | Buffer>();
  for (let n = 0; n < value; n++) map.set(Number(item()), item());
  return map;
}

const bytesOf = (text: string): Buffer => Buffer.from(text, 'base64url');

const notOurs = (why: string, cause?: unknown): Problem =>
  new Problem('forbidden', `The passkey was not accepted: ${why}.`, { cause });

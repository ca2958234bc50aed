// DKIM keys of a domain: made as a pair of pairs, kept encrypted, opened again for signing (delivery/senders.ts).
import {
  createCipheriv,
  createDecipheriv,
  createPrivateKey,
  generateKeyPair,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import { promisify } from 'node:util';
import { Problem } from '../errors.ts';

/** RFC 8301 3.2: 2048 bits; RFC 8463 for receivers that know Ed25519. Those who do not, use the other. */
export interface DomainKeys {
  rsa: KeyPair;
  ed25519: KeyPair;
}

interface KeyPair {
  /** base64, as it stands behind p= in DNS. */
  public: string;
  /** DER (PKCS #8), encrypted. */
  private: Buffer;
}

const IV_BYTES = 12;
const TAG_BYTES = 16;
const makePair = promisify(generateKeyPair);

/** `owner` is bound into the ciphertext: moved to another row it does not open. */
export async function makeDomainKeys(encryptionKey: Buffer, owner: string): Promise<DomainKeys> {
  const rsa = await makePair('rsa', { modulusLength: 2048 });
  const ed25519 = await makePair('ed25519');
  return {
    rsa: {
      public: spki(rsa.publicKey).toString('base64'),
      private: encrypt(encryptionKey, `rsa ${owner}`, rsa.privateKey),
    },
    ed25519: {
      // RFC 8463 4: the bare 32 bytes.
      public: spki(ed25519.publicKey).subarray(-32).toString('base64'),
      private: encrypt(encryptionKey, `ed25519 ${owner}`, ed25519.privateKey),
    },
  };
}

export function openDomainKey(
  encryptionKey: Buffer,
  kind: 'rsa' | 'ed25519',
  owner: string,
  sealed: Buffer,
): KeyObject {
  try {
    const decipher = createDecipheriv('aes-256-gcm', encryptionKey, sealed.subarray(0, IV_BYTES));
    decipher.setAAD(Buffer.from(`${kind} ${owner}`));
    decipher.setAuthTag(sealed.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
    const der = Buffer.concat([
      decipher.update(sealed.subarray(IV_BYTES + TAG_BYTES)),
      decipher.final(),
    ]);
    return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  } catch (cause) {
    throw new Problem(
      'unavailable',
      `The DKIM key of ${owner} cannot be decrypted. SECRET_KEY is not the one it was made with: set that one again, or remove the domain and add it anew.`,
      { cause },
    );
  }
}

/** AES-256-GCM: 12 bytes of chance, the tag, then the key. */
function encrypt(encryptionKey: Buffer, label: string, key: KeyObject): Buffer {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', encryptionKey, iv);
  cipher.setAAD(Buffer.from(label));
  const sealed = Buffer.concat([
    cipher.update(key.export({ type: 'pkcs8', format: 'der' })),
    cipher.final(),
  ]);
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]);
}

const spki = (key: KeyObject): Buffer => key.export({ type: 'spki', format: 'der' });

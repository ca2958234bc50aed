// A self-signed RSA certificate, written in DER by hand (RFC 5280), because node:crypto reads X.509
// but makes none.
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';

const der = (tag: number, ...contents: Buffer[]): Buffer => {
  const content = Buffer.concat(contents);
  const hex = content.length.toString(16);
  const length = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
  const head =
    content.length < 0x80
      ? Buffer.of(content.length)
      : Buffer.concat([Buffer.of(0x80 | length.length), length]);
  return Buffer.concat([Buffer.of(tag), head, content]);
};
const sequence = (...contents: Buffer[]) => der(0x30, ...contents);
const time = (ms: number) =>
  der(0x18, Buffer.from(`${new Date(ms).toISOString().replace(/[-:T]|\..*/g, '')}Z`));

export interface RsaCertificate {
  pem: string;
  privateKey: KeyObject;
}

/** Making a key takes a second on a busy machine, so certificates may share one. */
export function rsaKeys() {
  return generateKeyPairSync('rsa', { modulusLength: 2048 });
}

export function rsaCertificate(fromMs: number, toMs: number, keys = rsaKeys()): RsaCertificate {
  const { publicKey, privateKey } = keys;
  const sha256Rsa = sequence(der(0x06, Buffer.from('2a864886f70d01010b', 'hex')), der(0x05));
  const commonName = sequence(
    der(0x06, Buffer.from('550403', 'hex')),
    der(0x0c, Buffer.from('sns.test')),
  );
  const name = sequence(der(0x31, commonName));
  const body = sequence(
    der(0x02, Buffer.of(1)), // serial
    sha256Rsa,
    name,
    sequence(time(fromMs), time(toMs)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
  );
  const signature = sign('RSA-SHA256', body, privateKey);
  const whole = sequence(body, sha256Rsa, der(0x03, Buffer.of(0), signature));
  const lines = whole.toString('base64').replace(/.{64}/g, '$&\n');
  return { pem: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`, privateKey };
}

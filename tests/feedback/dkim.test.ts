// DKIM signatures on reports, compared with mailauth: what it signs is valid here, what was changed
// afterwards is not, in every canonicalization; and a stranger's email costs time in proportion to
// its length.
import { generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { dkimSign, dkimVerify } from 'mailauth';
import { describe, expect, it } from 'vitest';
import { claimedSignatures, holds } from '../../src/feedback/dkim.ts';
import { expectLinear } from '../support/growth.ts';

const DOMAIN = 'fbl.example';
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ed25519 = generateKeyPairSync('ed25519');
const KEYS = {
  rsa: {
    privateKey: rsa.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    record: `v=DKIM1; k=rsa; p=${rsa.publicKey.export({ type: 'spki', format: 'der' }).toString('base64')}`,
  },
  ed25519: {
    privateKey: ed25519.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    record: `v=DKIM1; k=ed25519; p=${Buffer.from(ed25519.publicKey.export({ format: 'jwk' }).x!, 'base64url').toString('base64')}`,
  },
};
type Kind = keyof typeof KEYS;

const HEAD = `From: "Feedback Loop" <feedback@${DOMAIN}>\r\nTo: <complaints@bounces.test>\r\nSubject: a  report\r\n of  some\tlength\r\nContent-Type: multipart/report;\r\n boundary="b"\r\n`;

async function signed(body: string, kind: Kind = 'rsa', canonicalization = 'relaxed/relaxed') {
  const message = `${HEAD}\r\n${body}`;
  const { signatures } = await dkimSign(message, {
    canonicalization,
    algorithm: `${kind}-sha256`,
    signTime: new Date(),
    headerList: ['From', 'To', 'Subject', 'Content-Type'],
    signatureData: [{ signingDomain: DOMAIN, selector: 's', privateKey: KEYS[kind].privateKey }],
  } as never);
  return Buffer.from(signatures + message);
}
const check = (raw: Buffer, records: string[] = [KEYS.rsa.record], nowMs = Date.now()) => {
  const [claim] = claimedSignatures(raw, [DOMAIN]);
  return claim !== undefined && holds(raw, claim, records, nowMs);
};

describe('a signature', () => {
  it.each(
    (['rsa', 'ed25519'] as const).flatMap((kind) =>
      ['simple/simple', 'simple/relaxed', 'relaxed/simple', 'relaxed/relaxed'].map(
        (canonicalization) => [kind, canonicalization] as const,
      ),
    ),
  )('by %s, %s: is judged as mailauth judges it', async (kind, canonicalization) => {
    const line = fc
      .array(fc.constantFrom('a', 'b ', ' ', '\t', '--b', '.', 'ü'), { maxLength: 6 })
      .map((pieces) => pieces.join(''));
    const body = fc.array(line, { maxLength: 6 }).map((lines) => `${lines.join('\r\n')}\r\n`);
    await fc.assert(
      fc.asyncProperty(
        body,
        fc.nat(),
        fc.constantFrom('x', ' ', '\r\n', ''),
        async (text, at, bit) => {
          const raw = await signed(text, kind, canonicalization);
          expect(check(raw, [KEYS[kind].record])).toBe(true);
          const place = raw.indexOf('\r\nFrom:') + (at % (raw.length - raw.indexOf('\r\nFrom:')));
          const bent = Buffer.concat([
            raw.subarray(0, place),
            Buffer.from(bit),
            raw.subarray(place),
          ]);
          const { results } = await dkimVerify(bent, {
            resolver: async () => [[KEYS[kind].record]],
          } as never);
          const believed = results.some((result) => result.status.result === 'pass');
          // Never more than mailauth believes; less where a change hides the sender or the
          // structure.
          if (check(bent, [KEYS[kind].record])) expect(believed).toBe(true);
          if (believed && bent.equals(raw)) expect(check(bent, [KEYS[kind].record])).toBe(true);
        },
      ),
      { numRuns: 40 },
    );
  });

  it.each<[string, string[]]>([
    ['of which there is no record', []],
    ['that is revoked', ['v=DKIM1; k=rsa; p=']],
    ['of another', [KEYS.ed25519.record]],
    ['for testing', [`${KEYS.rsa.record}; t=y`]],
    ['for other services', [`${KEYS.rsa.record}; s=tlsrpt`]],
    ['for other hashes', [`${KEYS.rsa.record}; h=sha1`]],
    ['of another version', [KEYS.rsa.record.replace('DKIM1', 'DKIM2')]],
    ['that is none', ['v=DKIM1; p=AAAA', 'hello', '']],
  ])('does not hold with a key %s', async (_, records) => {
    expect(check(await signed('x'), records)).toBe(false);
  });

  it('does not hold with a key that is too short', async () => {
    const short = generateKeyPairSync('rsa', { modulusLength: 512 }).publicKey;
    const record = `v=DKIM1; p=${short.export({ type: 'spki', format: 'der' }).toString('base64')}`;
    expect(check(await signed('x'), [record])).toBe(false);
  });

  it.each<[string, (raw: string) => string]>([
    ['has run out', (raw) => raw.replace('v=1;', 'v=1; x=1000;')],
    ['covers a part of the body', (raw) => raw.replace('v=1;', 'v=1; l=1;')],
    ['does not cover the sender', (raw) => raw.replace(/(?<=[; ]h=[^;]*)\bFrom\b/i, 'date')],
    [
      'does not cover the structure',
      (raw) => raw.replace(/(?<=[; ]h=[^;]*)\bContent-Type\b/i, 'date'),
    ],
    [
      'is on a head with a line that is no field',
      (raw) => raw.replace('\r\n\r\n', '\r\nx\r\n\r\n'),
    ],
    ['is on a head with a bare CR', (raw) => raw.replace('\r\n\r\n', '\r\n\rx: y\r\n\r\n')],
    ['is on a head with a bare LF', (raw) => raw.replace('\r\n\r\n', '\nx: y\r\n\r\n')],
    ['is on a head without an end', (raw) => raw.slice(0, raw.indexOf('\r\n\r\n') + 2)],
    ['names a tag twice', (raw) => raw.replace('v=1;', 'v=1; d=fbl.example;')],
    ['is of a domain below', (raw) => raw.replace(`d=${DOMAIN}`, `d=a.${DOMAIN}`)],
    ['stands beside two senders', (raw) => raw.replace('To:', `From: <a@${DOMAIN}>\r\nTo:`)],
  ])('that %s is not claimed or does not hold', async (_, change) => {
    const raw = (await signed('x')).toString('latin1');
    expect(change(raw)).not.toBe(raw);
    expect(check(Buffer.from(change(raw), 'latin1'))).toBe(false);
  });
});

describe('costs its length', () => {
  const HEADER = `DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=${DOMAIN}; s=s; h=from:content-type; bh=AA==; b=AA==\r\n`;
  const whole = (head: string, body: string) => Buffer.from(`${HEADER}${head}${HEAD}\r\n${body}`);
  it.each<[string, (size: number) => Buffer]>([
    ['line ends', (n) => whole('', '\r\n'.repeat(n / 2))],
    ['line feeds', (n) => whole('', '\n'.repeat(n))],
    ['blanks', (n) => whole('', ' '.repeat(n))],
    ['blanks at the ends of lines', (n) => whole('', ' \r\n'.repeat(n / 3))],
    ['signatures', (n) => whole(HEADER.repeat(n / HEADER.length), '')],
    ['fields', (n) => whole('From: a\r\n'.repeat(n / 9), '')],
    ['one field folded', (n) => whole(`X: a\r\n${' b\r\n'.repeat(n / 4)}`, '')],
    ['tags', (n) => whole(`DKIM-Signature: ${'a=b;'.repeat(n / 4)}\r\n`, '')],
    ['blanks in a tag', (n) => whole(`DKIM-Signature: b${' '.repeat(n)}\r\n`, '')],
    ['a sender', (n) => Buffer.from(`${HEADER}From: ${'a'.repeat(n)}\r\nContent-Type: x\r\n\r\n`)],
  ])('%s', (_, make) => {
    expectLinear(make, (raw) => {
      claimedSignatures(raw, [DOMAIN]);
      return holds(raw, { domain: DOMAIN, selector: 's' }, [KEYS.rsa.record], 0);
    });
  });
});

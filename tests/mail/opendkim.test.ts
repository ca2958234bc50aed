// Our signatures as opendkim judges them, which many receivers run: what we sign passes, and what
// someone adds, doubles or changes on the way does not. The keys come from a file, not from DNS.
import { execFileSync, spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Mailbox, parseMailbox } from '../../src/addresses.ts';
import { composeEmail, emailChunks } from '../../src/mail/compose.ts';
import { type DkimKey, signEmail } from '../../src/mail/dkim.ts';

const OPENDKIM = '/usr/sbin/opendkim';
const isThere = existsSync(OPENDKIM);
if (!isThere) {
  process.stderr.write(
    '\n*** OPENDKIM SKIPPED: not installed (Debian: apt-get install opendkim)\n\n',
  );
}

const ours = generateKeyPairSync('rsa', { modulusLength: 2048 });
const operators = generateKeyPairSync('rsa', { modulusLength: 2048 });
const keys: DkimKey[] = [
  { domain: 'example.com', selector: 'r1', algorithm: 'rsa-sha256', privateKey: ours.privateKey },
  {
    domain: 'mta.example',
    selector: 'op',
    algorithm: 'rsa-sha256',
    privateKey: operators.privateKey,
  },
];
const mailbox = (text: string) => parseMailbox(text) as Mailbox;

describe.skipIf(!isThere)('opendkim', () => {
  let folder: string;
  let signed: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'sandmartin-opendkim-'));
    const record = (pair: typeof ours) =>
      `v=DKIM1; k=rsa; p=${pair.publicKey.export({ type: 'spki', format: 'der' }).toString('base64')}`;
    writeFileSync(
      join(folder, 'keys'),
      `r1._domainkey.example.com ${record(ours)}\nop._domainkey.mta.example ${record(operators)}\n`,
    );
    writeFileSync(join(folder, 'conf'), `Mode v\nTestPublicKeys ${join(folder, 'keys')}\n`);
    const composed = composeEmail({
      messageId: '<01JABC@mail.example>',
      date: new Date(),
      from: mailbox('Shop <shop@example.com>'),
      to: [mailbox('Jürgen <jane@example.org>')],
      cc: [],
      subject: 'Ihre Bestellung – danke',
      text: 'Hello  Jane \t\n\n  indented\t\ttext  \n\n\n',
      html: '<p>Grüße</p>\n',
      ownHeaders: [
        ['Feedback-ID', '1:news:welcome:sm'],
        ['List-Unsubscribe', '<https://example.com/u/1>'],
        ['List-Unsubscribe-Post', 'List-Unsubscribe=One-Click'],
      ],
      headers: [],
      attachments: [],
    });
    const signatures = await signEmail(composed, keys, new Date());
    signed = Buffer.concat(emailChunks(composed, signatures)).toString();
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** Of the first signature, or of a message with only the second. */
  function judge(message: string): { passes: boolean; said: string } {
    const args = ['-x', join(folder, 'conf'), '-t', '-', '-v', '-v'];
    const { stdout, stderr } = spawnSync(OPENDKIM, args, { input: message, encoding: 'utf8' });
    const said = `${stdout}${stderr}`;
    return { passes: /verification \(s=\w+,? d=[\w.]+.*\) succeeded/.test(said), said };
  }

  it('speaks the version that we read', () => {
    expect(execFileSync(OPENDKIM, ['-V'], { encoding: 'utf8' })).toContain('rsa-sha256');
  });

  it('passes what we sign, by the sender and by the operator', () => {
    const { passes, said } = judge(signed);
    expect(said).toMatch(/d=example\.com/);
    expect(passes, said).toBe(true);
    const second = signed.replace(
      /^DKIM-Signature: (?:(?!\r\n\S)[\s\S])*d=example\.com(?:(?!\r\n\S)[\s\S])*\r\n/,
      '',
    );
    expect(second.match(/DKIM-Signature/g)).toHaveLength(1);
    const byOperator = judge(second);
    expect(byOperator.said).toMatch(/d=mta\.example/);
    expect(byOperator.passes, byOperator.said).toBe(true);
  });

  it.each([
    'From: Evil <evil@example.net>',
    'To: evil@example.net',
    'Cc: evil@example.net',
    'Subject: Win',
    'Date: Mon, 01 Jan 2024 00:00:00 +0000',
    'Reply-To: evil@example.net',
    'Message-ID: <evil@example.net>',
    'List-Unsubscribe: <https://evil.example>',
    'List-Unsubscribe-Post: List-Unsubscribe=One-Click',
    'List-Id: <evil.example>',
  ])('refuses a replay with %s added', (line) => {
    for (const replayed of [
      `${line}\r\n${signed}`,
      signed.replace('MIME-Version', `${line}\r\nMIME-Version`),
    ]) {
      const { passes, said } = judge(replayed);
      expect(passes, said).toBe(false);
    }
  });

  it('refuses a changed body', () => {
    expect(judge(signed.replace('indented', 'Indented')).passes).toBe(false);
  });
});

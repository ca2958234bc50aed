// Reports come from strangers: whatever the bytes, parseReport returns soon, with values of its own
// types.
import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { REASONS } from '../../src/events/reasons.ts';
import { ACTIONS } from '../../src/feedback/dsn.ts';
import { parseReport, type Report } from '../../src/feedback/report.ts';
import { workedMs } from '../support/blocked.ts';

const fixtures = ['dsn', 'arf', 'bounces'].flatMap((name) => {
  const folder = new URL(`../fixtures/${name}/`, import.meta.url);
  return readdirSync(folder)
    .filter((file) => file.endsWith('.eml'))
    .map((file) => readFileSync(new URL(file, folder)));
});

function expectSane(report: Report): void {
  expect(['dsn', 'bounce', 'arf', 'auto-reply', 'other']).toContain(report.kind);
  for (const recipient of report.recipients) {
    expect([null, ...ACTIONS]).toContain(recipient.action);
    expect([null, 'permanent', 'transient']).toContain(recipient.bounce_type);
    expect([null, ...REASONS]).toContain(recipient.reason);
    expect(recipient.reason === null).toBe(recipient.bounce_type === null);
    expect(recipient.bounce_type === null).toBe(recipient.action !== 'failed');
    expect(recipient.fingerprint).toMatch(/^[\da-f]{32}$/);
    expect((recipient.smtp_response ?? '').length).toBeLessThanOrEqual(4000);
  }
}

describe('any bytes', () => {
  it('are answered', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 3000 }), (bytes) =>
        expectSane(parseReport(Buffer.from(bytes))),
      ),
      { numRuns: 300 },
    );
  });

  // Pieces that parsers stumble over, in any order.
  const piece = fc.constantFrom(
    'Content-Type: multipart/report; boundary=b\n',
    'Content-Type: multipart/mixed; boundary="b";\n boundary=c\n',
    'Content-Type: message/delivery-status\n',
    'Content-Type: message/feedback-report\n',
    'Content-Type: text/html; charset=x-nonsense\n',
    'Content-Transfer-Encoding: base64\n',
    'Content-Transfer-Encoding: quoted-printable\n',
    'From: MAILER-DAEMON@x.example\nSubject: failure notice\n',
    'X-Failed-Recipients: a@b.example, ,<c@d.example>\n',
    '\n',
    '--b\n',
    '--b--\n',
    '--c\n',
    'Final-Recipient: rfc822; a@b.example\n',
    'Action: failed\nStatus: 5.1.1\n',
    'Diagnostic-Code: smtp; 550 5.1.1 \xff\xfe\n',
    ' folded\n',
    '<a@b.example>: 550 5.1.1 user unknown\n',
    'Feedback-Type: abuse\n',
    '=?utf-8?B?////?=\n',
    '<<<<&#x110000;&amp;>>>>',
    '\x00\r',
    '--- Below this line is a copy of the message.\n',
  );
  it('in the shape of reports are answered', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) =>
        expectSane(parseReport(Buffer.from(pieces.join(''), 'latin1'))),
      ),
      { numRuns: 1000 },
    );
  });

  it('that were a report once are answered', () => {
    const damage = fc.tuple(fc.nat(), fc.nat(), fc.nat(400), fc.uint8Array({ maxLength: 20 }));
    fc.assert(
      fc.property(
        fc.nat(fixtures.length - 1),
        fc.array(damage, { minLength: 1, maxLength: 5 }),
        (which, damages) => {
          let raw = fixtures[which]!;
          for (const [at, , length, bytes] of damages) {
            const from = at % (raw.length + 1);
            raw = Buffer.concat([
              raw.subarray(0, from),
              bytes,
              raw.subarray(Math.min(raw.length, from + length)),
            ]);
          }
          expectSane(parseReport(raw));
        },
      ),
      { numRuns: 500 },
    );
  });
});

const MB10 = 10 * 1024 * 1024;
const fill = (piece: string) => piece.repeat(Math.ceil(MB10 / piece.length));
const nested = () => {
  let head = 'Content-Type: multipart/mixed; boundary=b0\n\n';
  for (let level = 0; head.length < MB10; level++) {
    head += `--b${level}\nContent-Type: multipart/mixed; boundary=b${level + 1}\n\n`;
  }
  return head;
};
const bounce = 'From: MAILER-DAEMON@x.example\nSubject: failure notice\nReturn-Path: <>\n';
const report =
  'Content-Type: multipart/report; boundary=b\n\n--b\nContent-Type: message/delivery-status\n\nReporting-MTA: dns; x\n\n';

describe('10 MB of', () => {
  const hostile: Record<string, () => string> = {
    'nested multiparts': nested,
    'one line': () => `${bounce}\n${'x'.repeat(MB10)}`,
    'one header': () => `Subject: ${'x'.repeat(MB10)}`,
    'folded header': () => `Subject: x\n${fill(' y\n')}`,
    'lines without fields': () => fill('no field here\n'),
    'empty lines': () => fill('\n'),
    'bare carriage returns': () => fill('\r'),
    headers: () => fill('X-A: b\n'),
    boundaries: () => `Content-Type: multipart/mixed; boundary=b\n\n${fill('--b\n')}`,
    'boundaries with headers': () =>
      `Content-Type: multipart/mixed; boundary=b\n\n${fill('--b\nA: b\n\n')}`,
    'almost boundaries': () => `Content-Type: multipart/mixed; boundary=b\n\n${fill('--bb\n')}`,
    recipients: () =>
      report +
      fill(
        'Final-Recipient: rfc822; a@b.example\nAction: failed\nStatus: 5.0.0\nDiagnostic-Code: smtp; 550 x\n\n',
      ),
    'recipients in one group': () =>
      report + fill('Final-Recipient: rfc822; a@b.example\nAction: failed\n'),
    addresses: () => `${bounce}\n${fill('<a1@b.example>: ')}`,
    'different addresses': () => {
      let text = `${bounce}\n`;
      for (let i = 0; text.length < MB10; i++)
        text += `<a${i}@b.example>: 550 5.1.1 user unknown\n`;
      return text;
    },
    'failed recipients': () => {
      let text = 'X-Failed-Recipients: ';
      for (let i = 0; i < 2000; i++) text += `a${i}@b.example, `;
      return `${text}\n${bounce}\n${fill('a1@b.example a2@b.example\n')}`;
    },
    'open tags': () => `${bounce}Content-Type: text/html\n\n${fill('<')}`,
    'unclosed tags': () => `${bounce}Content-Type: text/html\n\n${fill('<a ')}`,
    entities: () => `${bounce}Content-Type: text/html\n\n${fill('&#x')}`,
    base64: () => `${bounce}Content-Transfer-Encoding: base64\n\n${fill('QUFB\n')}`,
    'quoted printable': () =>
      `${bounce}Content-Transfer-Encoding: quoted-printable\n\n${fill('=3D=\n')}`,
    'encoded words': () => `${bounce}Subject: ${fill('=?utf-8?B?QQ==?= ')}`,
    quotes: () => `Content-Type: text/plain; x="${fill('\\"')}`,
    'equals signs': () => `Content-Type: text/plain; ${fill('a=')}`,
    'words of every rule': () =>
      `${bounce}\n<a@b.example>: 550 ${fill('user address mailbox account ')}`,
    'reply codes': () => `${bounce}\n${fill('550-5.1.1 ')}`,
    'random bytes': () => {
      const bytes = Buffer.alloc(MB10);
      for (let i = 0; i < MB10; i += 4) bytes.writeUInt32LE((i * 2654435761) >>> 0, i);
      return bytes.toString('latin1');
    },
  };

  it.each(Object.entries(hostile))('%s is answered within two seconds of work', (_, make) => {
    const raw = Buffer.from(make(), 'latin1');
    // Measured: 1 to 200 ms.
    expect(workedMs(() => expectSane(parseReport(raw)))).toBeLessThan(2000);
  });
});

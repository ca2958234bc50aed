// Which refusals suppress an address: those that say it is dead. What the sender, the content or
// the path caused never does.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Consequence, classify, phaseIn } from '../../src/feedback/classify.ts';
import { parseReport } from '../../src/feedback/report.ts';

const corpus = readFileSync(new URL('../fixtures/bounces/diagnostics.tsv', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => line.split('\t') as [string, string, string]);

const DEAD = ['user-unknown', 'host-unknown', 'moved'];

describe('the labelled corpus', () => {
  const refused = corpus.filter(([type]) => type === 'permanent');
  const dead = refused.filter(([, reason]) => DEAD.includes(reason));
  const others = corpus.filter((line) => !dead.includes(line));
  const suppresses = ([, , text]: [string, string, string]) =>
    classify(null, text).consequence === 'suppress';

  it('95 of 100 dead addresses are suppressed at once', () => {
    expect(dead.length).toBeGreaterThan(100);
    expect(dead.filter(suppresses).length / dead.length).toBeGreaterThanOrEqual(0.95);
  });

  it('at most 1 of 100 others is', () => {
    expect(others.length).toBeGreaterThan(300);
    expect(others.filter(suppresses).length / others.length).toBeLessThanOrEqual(0.01);
  });
});

describe('one by one', () => {
  it.each<[Consequence, string]>([
    ['suppress', '550 5.1.1 <ada@example.com>: Recipient address rejected: User unknown'],
    ['suppress', '550 5.4.1 Recipient address rejected: Access denied. [DB5EUR03.eop-EUR03]'],
    ['suppress', '550 5.1.0 Address rejected.'],
    ['suppress', '550 Requested action not taken: mailbox unavailable'],
    ['suppress', '554 delivery error: dd This user doesn’t have a yahoo.com account'],
    ['suppress', '551 5.1.6 The recipient has moved; please try <ada@example.net>'],
    ['suppress', '550 5.1.2 Host unknown (Name server: nowhere.example: host not found)'],
    ['strike', '550 5.2.1 The email account that you tried to reach is disabled.'],
    ['strike', '552 5.2.2 Mailbox full'],
    ['strike', '550 something or other'],
    ['none', '550 Rejected'],
    ['none', '550 5.7.1 Sender address rejected'],
    ['none', '550 5.7.1 <ada@example.com>: Recipient address rejected: not in the mood'],
    ['none', '550 <me@example.org>: Sender address rejected: undeliverable address: unknown user'],
    ['none', '550-Verification failed for <me@example.org> 550 Sender verify failed'],
    ['none', '550 5.7.26 Unauthenticated email is not accepted due to domain’s DMARC policy'],
    ['none', '554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using bl.example'],
    ['none', '550 5.7.1 Message rejected as spam'],
    ['none', '552 5.3.4 Message size exceeds fixed limit'],
    ['none', '550 5.7.1 Relaying denied'],
    ['none', '550 Too many invalid recipients'],
    ['none', '550 You have been blocked by the recipient'],
    ['none', '450 4.1.1 User unknown'],
  ])('%s: %s', (consequence, text) => {
    expect(classify(null, text).consequence).toBe(consequence);
  });

  it.each([
    ['550 5.7.1 Sender address rejected', 'policy'],
    ['550 5.7.1 Recipient address rejected: Greylisted too often to count', 'greylisted'],
    ['550 Recipient address rejected: not today', 'policy'],
    ['550 Rejected', 'policy'],
  ])('%s is not a user that is unknown', (text, reason) => {
    expect(classify(null, text).reason).toBe(reason);
  });
});

describe('how far the email had come', () => {
  const said = '550 Unknown user ada@example.com';
  it.each<[Consequence, string]>([
    ['suppress', `${said} (in reply to RCPT TO command)`],
    ['strike', `${said} (in reply to end of DATA command)`],
    ['suppress', '550 5.1.1 User unknown (in reply to end of DATA command)'],
    ['none', `${said} (in reply to MAIL FROM command)`],
    ['strike', `SMTP error from remote mail server after end of data: ${said}`],
    ['none', `SMTP error from remote mail server after initial connection: ${said}`],
    ['strike', `>>> DATA\n<<< ${said}`],
    ['suppress', `>>> DATA\n<<< ${said}\n<<< 503 5.0.0 Need RCPT (recipient)`],
    ['strike', `192.0.2.1 failed after I sent the message. Remote host said: ${said}`],
  ])('%s: %s', (consequence, text) => {
    expect(classify(null, text).consequence).toBe(consequence);
  });

  it('is looked up in the human part of a report', () => {
    const report = (phase: string) => `From: MAILER-DAEMON@relay.example.org
Subject: Undelivered Mail Returned to Sender
Content-Type: multipart/report; report-type=delivery-status; boundary=b

--b

<ada@example.com>: host mx.example.com said: 550 Unknown user (in reply to
    ${phase} command)

--b
Content-Type: message/delivery-status

Reporting-MTA: dns; relay.example.org

Final-Recipient: rfc822; ada@example.com
Action: failed
Status: 5.0.0
Remote-MTA: dns; mx.example.com
Diagnostic-Code: smtp; 550 Unknown user

--b--
`;
    const read = (phase: string) => parseReport(Buffer.from(report(phase))).recipients;
    expect(read('RCPT TO')).toMatchObject([
      { consequence: 'suppress', reporting_mta: 'relay.example.org', remote_mta: 'mx.example.com' },
    ]);
    expect(read('end of DATA')).toMatchObject([{ consequence: 'strike' }]);
  });

  it('takes no longer for a long text', () => {
    expect(phaseIn('>>> data '.repeat(200_000))).toBe('data');
  });
});

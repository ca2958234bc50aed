// Every template, as it is sent, before SpamAssassin where that is installed: no rule about what an
// email is made of costs a point. A run without the network knows nothing about the server, the
// signature or the sender's name in lists.
import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { type Mailbox, parseMailbox } from '../../src/addresses.ts';
import { composeEmail, emailChunks } from '../../src/mail/compose.ts';
import { brandingContext } from '../../src/templates/branding.ts';
import { makeHere } from '../../src/templates/making.ts';
import { catalog, layouts, templates } from '../support/catalog.ts';

const installed = spawnSync('spamassassin', ['--version']).status === 0;
if (!installed) {
  process.stderr.write(
    '\n*** JUDGEMENT OF SPAMASSASSIN SKIPPED: spamassassin is not installed\n\n',
  );
}

describe.skipIf(!installed)('SpamAssassin', () => {
  it('takes no offence at any template', { timeout: 300_000 }, async () => {
    // The layouts in turn: each email in one of them.
    const emails = await Promise.all(
      templates.map((template, index) => bytesOf(template, layouts[index % layouts.length]!)),
    );
    const mailbox = emails.map((email) => `From - Mon Nov 16 12:00:00 2026\n${email}\n`).join('');
    const { stdout } = spawnSync('spamassassin', ['--local', '--test-mode', '--mbox'], {
      input: mailbox,
      maxBuffer: 1 << 28,
    });
    // Emails come back in an order of its own.
    const verdicts = [
      ...stdout
        .toString()
        .matchAll(/^X-Spam-Status: ((?:.*\n)(?:\s+.*\n)*)[\s\S]*?^Message-ID: <([\w-]+)@/gm),
    ];
    expect(verdicts).toHaveLength(templates.length);
    const faults = verdicts.flatMap(([, status, slug]) =>
      Number(/score=(-?[\d.]+)/.exec(status!)![1]) > 0
        ? [`${slug}: ${status!.replace(/\s+/g, ' ')}`]
        : [],
    );
    expect(faults).toEqual([]);
  });
});

const making = makeHere(catalog);

async function bytesOf(
  { slug, sample }: (typeof templates)[number],
  branding: (typeof layouts)[number],
): Promise<string> {
  const email = await making.make(
    {
      ...{ slug, template: null, variables: structuredClone(sample) },
      branding: { key: null, value: brandingContext(branding) },
    },
    { share: 'spam', ratePerSecond: 1000 },
  );
  const composed = composeEmail({
    messageId: `<${slug}@mail.alderfinch.example>`,
    date: new Date('2026-11-16T12:00:00Z'),
    from: parseMailbox('Alder & Finch <hello@alderfinch.example>') as Mailbox,
    to: [parseMailbox('Nia Mwangi <nia@mail.example>') as Mailbox],
    ...{ cc: [], ownHeaders: [], headers: [] },
    subject: email.subject,
    html: [Buffer.from(email.html)],
    text: [Buffer.from(email.text)],
    attachments: email.files.map((file) => ({ ...file, content: Buffer.from(file.content) })),
  });
  return Buffer.concat(emailChunks(composed)).toString().replaceAll('\r\n', '\n');
}

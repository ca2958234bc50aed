// `sandmartin feedback parse`: one JSON line a file, with exactly the documented fields.
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { afterEach, expect, it, vi } from 'vitest';
import { registerFeedback } from '../../src/cli/feedback.ts';

const path = (name: string) => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));

async function run(...files: string[]): Promise<{ lines: object[]; errors: string }> {
  let output = '';
  let errors = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    output += text;
    return true;
  });
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    errors += text;
    return true;
  });
  const program = new Command().exitOverride();
  registerFeedback(program);
  await program.parseAsync(['node', 'sandmartin', 'feedback', 'parse', ...files]);
  vi.restoreAllMocks();
  const lines = output.split('\n').filter((line) => line !== '');
  return { lines: lines.map((line) => JSON.parse(line)), errors };
}

afterEach(() => {
  process.exitCode = undefined;
});

it('prints what each report says', async () => {
  const bounce = path('dsn/failed-user-unknown.failed.0009.eml');
  const complaint = path('arf/lab-abuse.eml');
  const { lines } = await run(bounce, complaint);
  expect((await run('--json', bounce, complaint)).lines).toStrictEqual(lines);
  expect(lines).toStrictEqual([
    {
      file: bounce,
      kind: 'dsn',
      recipients: [
        {
          address: 'nouser@sink.test',
          action: 'failed',
          status: '5.1.1',
          bounce_type: 'permanent',
          reason: 'user-unknown',
          suppress: true,
          smtp_response:
            '550 5.1.1 <nouser@sink.test>: Recipient address rejected: User unknown in virtual mailbox table',
          reporting_mta: 'relay.test',
          remote_mta: '127.0.0.1',
        },
      ],
      feedback_type: null,
    },
    {
      file: complaint,
      kind: 'arf',
      recipients: [
        {
          address: 'ok@sink.test',
          action: null,
          status: null,
          bounce_type: null,
          reason: null,
          suppress: true,
          smtp_response: null,
          reporting_mta: 'mail.fbl.test',
          remote_mta: null,
        },
      ],
      feedback_type: 'abuse',
    },
  ]);
});

it('goes on after a file it cannot read, and says so', async () => {
  const { lines, errors } = await run(path('arf/nowhere.eml'), path('arf/lab-abuse.eml'));
  expect(lines).toHaveLength(1);
  expect(errors).toContain('nowhere.eml');
  expect(process.exitCode).toBe(1);
});

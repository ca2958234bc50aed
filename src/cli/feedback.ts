// `sandmartin feedback parse FILE…`: why a report was judged so, with exactly the code of the
// feedback listener.
import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { parseReport, type Report } from '../feedback/report.ts';
import { suppresses } from '../feedback/statement.ts';
import { withJson } from './command.ts';

/** Returns the command, to which feedback-list.ts adds more. */
export function registerFeedback(program: Command): Command {
  const feedback = program
    .command('feedback')
    .description('bounces and complaints that arrive by email');
  // It always prints JSON; --json exists because every command accepts it.
  withJson(feedback.command('parse'))
    .description(
      'print one line of JSON for each report: what it is and what it says about each recipient',
    )
    .argument('<file...>', 'emails as received (.eml)')
    .action(async (files: string[]) => {
      for (const file of files) await parseFile(file);
    });
  return feedback;
}

async function parseFile(file: string): Promise<void> {
  let raw: Buffer;
  try {
    raw = await readFile(file);
  } catch (error) {
    process.stderr.write(`${file}: ${(error as Error).message}\n`);
    process.exitCode = 1;
    return;
  }
  process.stdout.write(`${JSON.stringify(shownReport(file, parseReport(raw)))}\n`);
}

/** Exactly the fields of the documented line, in its order. */
export function shownReport(file: string, report: Report): object {
  return {
    file,
    kind: report.kind,
    recipients: report.recipients.map((recipient) => ({
      address: recipient.address,
      action: recipient.action,
      status: recipient.status,
      bounce_type: recipient.bounce_type,
      reason: recipient.reason,
      suppress: suppresses(report, recipient),
      smtp_response: recipient.smtp_response,
      reporting_mta: recipient.reporting_mta,
      remote_mta: recipient.remote_mta,
    })),
    feedback_type: report.feedback_type,
  };
}

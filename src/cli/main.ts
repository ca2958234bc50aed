// The command `sandmartin`: one file per command, wired here.
import { Command, CommanderError } from 'commander';
import { Problem } from '../errors.ts';
import { VERSION } from '../version.ts';
import { registerAccount } from './account.ts';
import { registerBranding } from './branding.ts';
import { registerDoctor } from './doctor.ts';
import { registerFeedback } from './feedback.ts';
import { registerFeedbackList } from './feedback-list.ts';
import { registerIdentity } from './identity.ts';
import { registerJinja } from './jinja.ts';
import { registerKey } from './key.ts';
import { registerMessage } from './message.ts';
import { registerSandbox } from './sandbox.ts';
import { registerServe } from './serve.ts';
import { registerSuppression } from './suppression.ts';
import { registerTemplate } from './template.ts';
import { registerUser } from './user.ts';
import { registerWebhook } from './webhook.ts';

const program = new Command('sandmartin')
  .description('Transactional email you run yourself.')
  .version(VERSION)
  .showHelpAfterError('(add --help for what is possible)')
  .configureHelp({ showGlobalOptions: false });

registerServe(program);
registerAccount(program);
registerKey(program);
registerUser(program);
registerIdentity(program);
registerTemplate(program);
registerBranding(program);
registerMessage(program);
registerWebhook(program);
registerSandbox(program);
registerFeedbackList(registerFeedback(program));
registerSuppression(program);
registerJinja(program);
registerDoctor(program);

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode;
  else {
    const unexpected = !(error instanceof Problem);
    process.stderr.write(`${unexpected ? (error as Error).stack : error.detail}\n`);
    process.exitCode = 1;
  }
}

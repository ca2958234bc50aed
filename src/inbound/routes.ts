// The URLs that recipients, their email programs and email providers call, mounted next to the API
// by rest/server.ts.
import { VERIFY_PATH } from '../accounts/address-verification.ts';
import { APPROVAL_PATH } from '../approvals/approval-links.ts';
import type { HttpHandler } from '../http/answer.ts';
import { refuse } from '../operations/refusal.ts';
import { recurringFault } from '../process/recurring-fault.ts';
import { LOGO_PATH } from '../templates/logo-names.ts';
import { PREFERENCES_PATH, TRACKING_PATHS } from '../tracking/apply.ts';
import { type ApprovalDeps, answerApproval } from './approval.ts';
import { answerClick } from './click.ts';
import { answerLogo } from './logo.ts';
import { answerOpen } from './open.ts';
import { answerPreferences } from './preferences.ts';
import { answerProvider, PROVIDERS, type ProviderDeps } from './provider.ts';
import { answerSes, type SesDeps } from './ses.ts';
import type { TrackingDeps } from './tracking-request.ts';
import { answerUnsubscribe } from './unsubscribe.ts';
import { answerVerify } from './verify.ts';

export type InboundDeps = TrackingDeps &
  ApprovalDeps &
  Omit<SesDeps, 'refusedPost'> &
  Omit<ProviderDeps, 'couldNotRead' | 'refusedPost'>;

/** By path, as the router writes it. */
export function inboundRoutes(deps: InboundDeps): Record<string, HttpHandler> {
  const safely =
    (
      answer: (deps: InboundDeps, ...rest: Parameters<HttpHandler>) => void | Promise<void>,
    ): HttpHandler =>
    (request, response) => {
      const work = async () => answer(deps, request, response);
      work().catch((error) => {
        const { status, headers } = refuse(deps, { door: 'inbound' }, error);
        if (!response.headersSent) response.writeHead(status, headers);
        response.end();
      });
    };
  const refusedOf = (provider: string) =>
    about(provider, recurringFault(deps.log, 'warn', 'a notification from a provider was refused'));
  const refusedSes = refusedOf('ses');
  return {
    [`${TRACKING_PATHS.open}*`]: safely(answerOpen),
    [`${TRACKING_PATHS.click}*`]: safely(answerClick),
    [`${TRACKING_PATHS.unsubscribe}*`]: safely(answerUnsubscribe),
    [`${PREFERENCES_PATH}*`]: safely(answerPreferences),
    [`${LOGO_PATH}*`]: safely(answerLogo),
    [`${VERIFY_PATH}*`]: safely(answerVerify),
    [`${APPROVAL_PATH}*`]: safely(answerApproval),
    '/inbound/ses': safely((all, ...rest) =>
      answerSes({ ...all, refusedPost: refusedSes }, ...rest),
    ),
    ...Object.fromEntries(
      PROVIDERS.flatMap((provider) => {
        const couldNotRead = about(
          provider.name,
          recurringFault(deps.log, 'warn', 'an event of a provider cannot be read and is dropped'),
        );
        const refusedPost = refusedOf(provider.name);
        const answer = safely((all, ...rest) =>
          answerProvider({ ...all, couldNotRead, refusedPost }, provider, ...rest),
        );
        // Followed by a token if the provider supports nothing better.
        return ['', '/*'].map((rest) => [`/inbound/${provider.name}${rest}`, answer]);
      }),
    ),
  };
}

/** Each provider has its own: one does not hide another. */
const about =
  (provider: string, say: ReturnType<typeof recurringFault>) =>
  (error: unknown): void =>
    say(error, { provider });

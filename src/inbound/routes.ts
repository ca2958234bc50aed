// The addresses that recipients, their mail programs and Amazon SNS call, mounted beside the API by
// rest/server.ts.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { VERIFY_PATH } from '../accounts/address-verification.ts';
import { refuse } from '../operations/refusal.ts';
import { TRACKING_PATHS } from '../tracking/apply.ts';
import { answerClick } from './click.ts';
import { answerOpen } from './open.ts';
import { answerSes, type SesDeps } from './ses.ts';
import type { TrackingDeps } from './tracking-request.ts';
import { answerUnsubscribe } from './unsubscribe.ts';
import { answerVerify } from './verify.ts';

export type InboundDeps = TrackingDeps & SesDeps;

type AnswerHttp = (request: IncomingMessage, response: ServerResponse) => void;

/** By path, as the router writes it. */
export function inboundRoutes(deps: InboundDeps): Record<string, AnswerHttp> {
  const safely =
    (
      answer: (deps: InboundDeps, ...rest: Parameters<AnswerHttp>) => void | Promise<void>,
    ): AnswerHttp =>
    (request, response) => {
      const work = async () => answer(deps, request, response);
      work().catch((error) => {
        const { status, headers } = refuse(deps, { door: 'inbound' }, error);
        if (!response.headersSent) response.writeHead(status, headers);
        response.end();
      });
    };
  return {
    [`${TRACKING_PATHS.open}*`]: safely(answerOpen),
    [`${TRACKING_PATHS.click}*`]: safely(answerClick),
    [`${TRACKING_PATHS.unsubscribe}*`]: safely(answerUnsubscribe),
    [`${VERIFY_PATH}*`]: safely(answerVerify),
    '/inbound/ses': safely(answerSes),
  };
}

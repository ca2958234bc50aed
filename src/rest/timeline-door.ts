// GET /v1/messages/{sm_mail_id}, for requests that took the short path (http/plain-requests.ts):
// programs ask it again and again, over the same connection that they send on. Without a key it may
// be a person's, from the dashboard: that is left to serve-operations.ts.
import type { Caller } from '../accounts/directory.ts';
import { answerJson } from '../http/answer.ts';
import { apiKeyIn } from '../http/api-key.ts';
import type { AnswerPlain } from '../http/plain-requests.ts';
import { requestIdOf } from '../http/request-id.ts';
import { getMessage } from '../operations/get-message.ts';
import type { Operation } from '../operations/operation.ts';
import { perform } from '../operations/perform.ts';
import { etagOf } from '../operations/preconditions.ts';
import { refuse } from '../operations/refusal.ts';
import type { RestDeps } from './deps.ts';

export const answerPlainTimeline =
  (deps: RestDeps): AnswerPlain =>
  async ({ fields, name }, { remoteAddress }) => {
    const key = apiKeyIn(fields.get('x-api-key'), fields.get('authorization'));
    if (key === undefined) return undefined;
    const requestId = requestIdOf(fields.get('x-request-id'));
    let caller: Caller | undefined;
    try {
      const known = deps.directory.authenticate(key, () =>
        deps.addressOf(remoteAddress, fields.get('x-forwarded-for')),
      );
      caller = known instanceof Promise ? await known : known;
      deps.loopWatch.note('timeline', caller.accountId);
      const via = { door: 'rest', requestId, person: null } as const;
      const answer = await perform(deps, getMessage, caller, { sm_mail_id: name }, via);
      const etag = etagOf(getMessage as unknown as Operation, answer);
      return answerJson(200, answer, requestId, etag === undefined ? {} : { etag });
    } catch (error) {
      const about = { door: 'rest', request: requestId, account: caller?.accountId };
      const { status, headers, body } = refuse(deps, about, error);
      return answerJson(status, body, requestId, headers);
    }
  };

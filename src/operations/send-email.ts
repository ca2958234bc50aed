// send-email: queues one email. REST answers it through its own fast door (rest/send-door.ts), by
// this definition.
import { acceptSend } from '../sending/accept.ts';
import { EITHER_BODY, sendAnswer, sendRequest } from '../sending/request.ts';
import { operation } from './operation.ts';

export const sendEmail = operation({
  name: 'send_email',
  title: 'Send an email',
  summary:
    'Queue one transactional email, from an inline body (subject with html and/or text) or from a template with variables. Answers at once; delivery is asynchronous.',
  effect: 'sends',
  scope: 'email:send',
  input: sendRequest,
  output: sendAnswer,
  rest: { method: 'POST', path: '/v1/send', status: 202, oneOf: EITHER_BODY },
  client: 'send',
  tool: {
    brief:
      'Queues one email to real people: subject with html and/or text, or a template with variables.',
  },
  async run(deps, caller, input, via) {
    const { door, idempotencyKey } = via;
    const accepted = await acceptSend(deps, caller, input, { door, idempotencyKey });
    const { answer, limit, warnings } = accepted;
    via.limit = limit;
    via.warnings = warnings;
    return answer;
  },
});

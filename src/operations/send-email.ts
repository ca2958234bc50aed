// send-email: queue one mail. REST: POST /v1/send.
import { type AcceptDeps, type Accepted, acceptSend, type SendVia } from '../sending/accept.ts';
import { sendAnswer, sendRequest } from '../sending/request.ts';
import type { Operation } from './operation.ts';

export const sendEmail = {
  name: 'send_email',
  title: 'Send an e-mail',
  summary:
    'Queue one transactional e-mail, from an inline body (subject with html and/or text) or from a template with variables. Answers at once; delivery is asynchronous.',
  scope: 'email:send',
  input: sendRequest,
  output: sendAnswer,
  run: acceptSend,
} satisfies Operation<AcceptDeps, typeof sendRequest, typeof sendAnswer, SendVia, Accepted>;

// Routes: which operation answers at which path, with which status. Everything else about them comes from the operation.
import { getMessage } from '../operations/get-message.ts';
import type { Operation } from '../operations/operation.ts';
import { sendEmail } from '../operations/send-email.ts';

export interface Route {
  method: 'GET' | 'POST';
  /** In the notation of OpenAPI. */
  path: string;
  successStatus: number;
  operation: Operation<never, never, never, never, unknown>;
  /** What can go wrong, for the documentation. */
  errors: readonly number[];
}

export const ROUTES = [
  {
    method: 'POST',
    path: '/v1/send',
    successStatus: 202,
    operation: sendEmail,
    errors: [400, 401, 402, 403, 404, 429, 502],
  },
  {
    method: 'GET',
    path: '/v1/messages/{sm_mail_id}',
    successStatus: 200,
    operation: getMessage,
    errors: [401, 402, 403, 404],
  },
] as const;

// What the tests of streams share: an account that may do everything, and its email as the sandbox
// got it.
import { ALL_SCOPES } from '../../src/accounts/scopes.ts';
import { captured, header } from '../support/captured.ts';
import {
  type Answer,
  anEmail,
  request,
  type TestAccount,
  type TestService,
} from '../support/service.ts';
import { until } from '../support/until.ts';

export interface Streams {
  account: TestAccount;
  call(method: string, path: string, body?: unknown): Promise<Answer>;
  put(name: string, body: object): Promise<void>;
  /** Sends and answers the message id. */
  send(wish: Record<string, unknown>): Promise<string>;
  /** What happened to it, once that is known. */
  fateOf(id: string): Promise<'sent' | 'suppressed' | 'both'>;
  /** Where the reader of an email unsubscribes; undefined: it has no such header. */
  unsubscribeUrl(id: string): Promise<string | undefined>;
}

export async function openStreams(service: TestService): Promise<Streams> {
  const account = await service.account({ scopes: ALL_SCOPES });
  const call: Streams['call'] = (method, path, body) =>
    request(`${service.url}${path}`, {
      method,
      headers: {
        'x-api-key': account.key,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  return {
    account,
    call,
    async put(name, body) {
      const answer = await call('PUT', `/v1/streams/${name}`, body);
      if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
    },
    async send(wish) {
      const answer = await service.send(account.key, wish.template ? wish : anEmail(wish));
      if (answer.status !== 202) throw new Error(JSON.stringify(answer.body));
      return answer.body.id;
    },
    fateOf: (id) =>
      until(async () => {
        const { events, pending } = (await call('GET', `/v1/messages/${id}/details`)).body;
        if (pending !== null) return undefined;
        const sent = events.some((it: { type: string }) => it.type === 'sent');
        const held = events.some((it: { bounce_type?: string }) => it.bounce_type === 'suppressed');
        return sent && held ? 'both' : sent ? 'sent' : held ? 'suppressed' : undefined;
      }),
    async unsubscribeUrl(id) {
      const { email: got } = await captured(service.database, id);
      return /^<(http.*)>$/.exec(header(got, 'list-unsubscribe') ?? '')?.[1];
    },
  };
}

export const oneClick = (url: string): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'List-Unsubscribe=One-Click',
  });

/** An email by which someone gets back into their account. */
export const passwordReset = (to: string) => ({
  from_email: 'hello@example.com',
  to: [to],
  template: 'password-reset',
  variables: { reset_url: 'https://example.com/reset' },
});

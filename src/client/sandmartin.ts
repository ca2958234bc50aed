// sandmartin/client: every operation of the API as a typed call. It depends only on fetch.
//
//   const sandmartin = new Sandmartin({ baseUrl: 'https://mail.example.com', apiKey:
//   process.env.SANDMARTIN_KEY });
//   const { id } = await sandmartin.send({ from_email: 'hello@acme.example', to:
//   ['ada@example.com'], subject: 'Hi', text: 'Hi!' });
//   for await (const message of sandmartin.messages.list({ status: 'bounced' }))
//   console.log(message.id);
import { type CallOptions, type ClientOptions, callRoute, type Page, pagesOf } from './calls.ts';
import { type Operations, ROUTES } from './operations.ts';

export {
  type CallOptions,
  type ClientOptions,
  etagOf,
  type Fault,
  type Page,
  type Pages,
  SandmartinError,
} from './calls.ts';
export type * from './operations.ts';

export interface Sandmartin extends Operations {}

// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the calls are made from the table, in the constructor
export class Sandmartin {
  constructor(options: ClientOptions) {
    for (const [name, route] of Object.entries(ROUTES)) {
      const path = name.split('.');
      const last = path.pop()!;
      let at = this as unknown as Record<string, unknown>;
      for (const part of path) {
        at[part] ??= {};
        at = at[part] as Record<string, unknown>;
      }
      at[last] = (input: Record<string, unknown> = {}, call: CallOptions = {}) =>
        'list' in route
          ? pagesOf(
              (cursor) =>
                callRoute(options, route, { ...input, cursor }, call) as Promise<Page<unknown>>,
              input.cursor as string | undefined,
            )
          : callRoute(options, route, input, call);
    }
  }
}

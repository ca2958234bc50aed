// Every page of the dashboard for an account that has a little of everything, each with words from
// its main content. Used by quick.test.ts and by the benchmark that measures the time.
import type { Sandmartin } from '../../src/client/sandmartin.ts';
import type { Database } from '../../src/store/pool.ts';
import { captured } from '../support/captured.ts';

export interface Shown {
  /** Its path, without what differs from run to run. */
  page: string;
  path: string;
  shows: string;
}

/** `send` sends an email with this subject through that key, and answers its id. */
export async function fillAndListPages(
  { api, database }: { api: Sandmartin; database: Database },
  key: string,
  send: (key: string, subject: string) => Promise<string>,
): Promise<Shown[]> {
  const webhook = (await api.webhooks.create({ url: 'http://127.0.0.1:9999/hook' })).id;
  const message = await send(key, 'Hello');
  const rules = { approval: 'always' as const };
  const { secret } = await api.keys.create({ name: 'Held', scopes: ['email:send'], rules });
  const held = await send(secret, 'Waits');
  await api.templates.clone({ slug: 'welcome' });
  await api.suppressions.put({ address: 'ada@example.net' });
  await captured(database, message);
  const inSandbox = (await api.sandbox.list()).data[0]!.id;
  const pages: [page: string, shows: string, id?: string][] = [
    ['/', 'of 50,000 recipients today'],
    ['/messages', 'Hello'],
    ['/messages/:id', 'Webhooks (', message],
    ['/approvals', 'Waits'],
    ['/approvals/:id', 'Waits', held],
    ['/templates', 'Password reset'],
    ['/templates/welcome', 'Test send'],
    ['/templates/welcome/edit', 'Preheader'],
    ['/branding', 'Logo'],
    ['/senders', 'example.com'],
    ['/webhooks', 'http://127.0.0.1:9999/hook'],
    ['/webhooks/:id', 'ada@example.net', webhook],
    ['/connect', 'Paste one of these'],
    ['/connect/reference', 'POST'],
    ['/keys', 'Held'],
    ['/streams', 'Service emails'],
    ['/suppressions', 'ada@example.net'],
    ['/audit', 'Clone template'],
    ['/sandbox', 'Hello'],
    ['/sandbox/:id', 'Hello', inSandbox],
    ['/team', 'people.example'],
    ['/account', 'used today'],
    ['/profile', 'This one'],
    ['/operator', 'Active'],
    ['/operator/relays', 'No relay yet'],
  ];
  return pages.map(([page, shows, id = '']) => ({ page, path: page.replace(':id', id), shows }));
}

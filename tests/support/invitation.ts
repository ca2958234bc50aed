// The link of an invitation, where its reader finds it: in the newest email to the address.
import { showUuid } from '../../src/ids.ts';
import type { Database } from '../../src/store/pool.ts';
import { captured } from './captured.ts';

export async function mailedInvitation(
  database: Database,
  email: string,
): Promise<{ link: string; token: string }> {
  const [row] = await database.query<{ id: string }>(
    `SELECT id FROM messages WHERE tags = '{invitation}' AND recipients = $1 ORDER BY id DESC LIMIT 1`,
    [[email]],
  );
  const { email: got } = await captured(database, showUuid('msg_', row!.id));
  const [link, token] = /http\S+\/invitation#(\S+)/.exec(got.text!)!;
  return { link, token: token! };
}

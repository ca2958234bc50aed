// The App that shows a held email inside the client (MCP Apps: a page behind a ui:// address that
// hosts put into a frame). It shows the email and links to the page where a person decides; it
// cannot decide itself, since anything that runs in a chat may have been talked into it. Written by
// hand for the five messages it needs: the package's own App class adds 300 KB. That package's host
// tests it (tests/browser/held-email-app.test.ts).
import type { Resource } from '@modelcontextprotocol/server';
import type { Caller } from '../accounts/directory.ts';
import { readUuid } from '../ids.ts';
import { cameThrough } from '../messages/message.ts';
import { readHeld } from '../operations/approvals.ts';
import type { OperationDeps } from '../operations/deps.ts';
import { noMessage } from '../operations/message-lookup.ts';
import type { Reader } from '../operations/whole-emails.ts';
import type { Database } from '../store/pool.ts';
import { APP_HTML } from './held-email-page.ts';

export const APPS_EXTENSION = 'io.modelcontextprotocol/ui';
export const APP_URI = 'ui://sandmartin/held-email';
const APP_TYPE = 'text/html;profile=mcp-app';

/** What the App reads through its host: one held email. Not meant for the model. */
const EMAIL_URI = 'sandmartin://held-emails/';

/** Nothing is loaded from anywhere, not even the images of an email. */
const APP_META = { ui: { prefersBorder: true } };

const APP: Resource = {
  uri: APP_URI,
  name: 'held-email',
  title: 'Email waiting for approval',
  mimeType: APP_TYPE,
  _meta: APP_META,
};

/** Only if emails can be held is there anything to show. */
export const showsHeld = ({ limits }: Caller): boolean => (limits?.approval ?? 'never') !== 'never';

export const resourcesFor = (caller: Caller): Resource[] => (showsHeld(caller) ? [APP] : []);

/** Undefined: there is no such resource. */
export async function readResource(
  { database, baseUrl, wholeEmails }: Pick<OperationDeps, 'database' | 'baseUrl' | 'wholeEmails'>,
  caller: Caller,
  reader: Reader,
  uri: string,
) {
  if (uri === APP_URI) return { uri, mimeType: APP_TYPE, text: APP_HTML, _meta: APP_META };
  if (!uri.startsWith(EMAIL_URI)) return undefined;
  const id = uri.slice(EMAIL_URI.length);
  await requireToSee(database, caller, id);
  const held = await wholeEmails.inTurn(caller.accountId, reader, () =>
    readHeld(database, caller, id),
  );
  const shown = {
    ...held,
    ...(isLong(held) ? { html: null, text: TOO_LONG } : {}),
    approval_url: `${baseUrl()}/approvals/${id}`,
  };
  return { uri, mimeType: 'application/json', text: JSON.stringify(shown) };
}

/** It is written as JSON twice, at once, and no chat shows it all. */
const LONGEST_SHOWN = 1024 * 1024;
const TOO_LONG = 'This email is too large to be shown here. Open the page where it is decided.';

const isLong = ({ html, text }: { html: string | null; text: string | null }): boolean =>
  (html?.length ?? 0) + (text?.length ?? 0) > LONGEST_SHOWN;

/** Only the key that sent it, or one that may read everything. */
async function requireToSee(
  database: Database,
  { accountId, keyId, scopes, limits }: Caller,
  id: string,
): Promise<void> {
  const uuid = readUuid('msg_', id);
  if (uuid === undefined) throw noMessage(id);
  if (scopes.has('messages:read') && !limits?.ownMessages) return;
  if (!(await cameThrough(database, accountId, uuid, keyId))) throw noMessage(id);
}

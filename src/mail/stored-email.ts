// Loading claimed emails: message and content of a group in one round trip, a large one piece by
// piece, so that it blocks nobody.
import type { UnknownOutcome } from '../accounts/accounts.ts';
import { uuidToBytes } from '../ids.ts';
import type { Door } from '../messages/door.ts';
import { DEFAULT_STREAM } from '../messages/stream.ts';
import type { ClaimedMessage } from '../queue/due.ts';
import { bodyOf, type StoredBody } from '../sending/stored-content.ts';
import { heededStream, isAboutAccess, readHead, type StoredHead } from '../sending/stored-head.ts';
import { columnList } from '../store/columns.ts';
import { PIECE_BYTES, readInPieces } from '../store/pieces.ts';
import type { Database } from '../store/pool.ts';
import type { AskedRecipient } from '../suppressions/suppressions.ts';

/** What the account wants, as it is when the email is loaded. */
export interface AccountSwitches {
  id: number;
  version: number;
  trackOpens: boolean;
  trackClicks: boolean;
  unknownOutcome: UnknownOutcome;
}

export interface StoredEmail {
  accountId: number;
  messageId: Buffer;
  door: Door;
  account: AccountSwitches;
  stream: string;
  /** As rules for relays match them. */
  tags: readonly string[];
  /** Null: its content came with the request. */
  template: string | null;
  /**
   * Recipients can leave its stream, as set when the email is loaded, and it is not about access.
   */
  leavable: boolean;
  recipients: string[];
  subject: string;
  /** When it was scheduled to go out; null: at once. */
  scheduledAt: Date | null;
  head: StoredHead;
  html: Buffer | null;
  text: Buffer | null;
  attachments: Buffer | null;
}

/** An email that exists but cannot be read. */
export interface UnreadableEmail {
  fault: Error;
}

/** What to load, with its size in bytes if known. */
type Wanted = Pick<ClaimedMessage, 'accountId' | 'messageId'> &
  Partial<Pick<ClaimedMessage, 'size'>>;

/**
 * By uuid. An email whose content was pruned is missing; one that cannot be read is an
 * UnreadableEmail.
 */
export async function loadEmails(
  database: Database,
  wanted: readonly Wanted[],
): Promise<Map<string, StoredEmail | UnreadableEmail>> {
  const rows: EmailRow[] = [];
  for (const group of groupsOf(wanted)) {
    const isLarge = sizeOf(group[0]!) > PIECE_BYTES;
    rows.push(
      ...(isLarge
        ? await loadLarge(database, group[0]!)
        : await loadRows<EmailRow>(database, group, BODIES)),
    );
  }
  return new Map(rows.map((row) => [row.uuid, readEmail(row)]));
}

const WANTED_COLUMNS = columnList<Wanted>({
  account_id: { type: 'bigint', of: ({ accountId }) => accountId },
  id: { type: 'uuid', of: ({ messageId }) => messageId },
});

const sizeOf = ({ size = Number.POSITIVE_INFINITY }: Wanted): number => size;

/**
 * What is loaded together: a hundred emails of 240 KB in one group blocked everything for 230 ms.
 */
function groupsOf(wanted: readonly Wanted[]): Wanted[][] {
  const groups: Wanted[][] = [];
  let room = 0;
  for (const email of wanted.toSorted((one, other) => sizeOf(one) - sizeOf(other))) {
    room -= sizeOf(email);
    if (room >= 0) groups.at(-1)!.push(email);
    else {
      groups.push([email]);
      room = PIECE_BYTES - sizeOf(email);
    }
  }
  return groups;
}

const BODIES = { name: 'load-emails', columns: 'html, text, attachments' };
const SIZES = {
  name: 'load-large-mail',
  columns: `octet_length(html) AS html, octet_length(text) AS text,
            octet_length(attachments) AS attachments`,
};

async function loadRows<Row extends Omit<EmailRow, StoredBody>>(
  database: Database,
  wanted: readonly Wanted[],
  { name, columns }: { name: string; columns: string },
): Promise<Row[]> {
  return await database.call<Row>(
    name,
    `SELECT account_id AS "accountId", id AS uuid, door, recipients, subject, tags, template,
            scheduled_at AS "scheduledAt", head, ${columns}, version, track_opens AS "trackOpens",
            track_clicks AS "trackClicks", unknown_outcome AS "unknownOutcome", stream, leavable
     FROM load_emails(${WANTED_COLUMNS.asArguments()}, p_apart => $${WANTED_COLUMNS.length + 1},
                      p_default_stream => '${DEFAULT_STREAM}')`,
    [...WANTED_COLUMNS.values(wanted), database.home([]) !== null],
  );
}

/** Empty if its content is gone. */
async function loadLarge(database: Database, wanted: Wanted): Promise<EmailRow[]> {
  type Sizes = Omit<EmailRow, StoredBody> & Record<StoredBody, number | null>;
  const [row] = await loadRows<Sizes>(database, [wanted], SIZES);
  if (row === undefined) return [];
  const load = async (body: StoredBody): Promise<Buffer | null> => {
    const length = row[body];
    if (length === null) return null;
    const { accountId, uuid } = row;
    const value = bodyOf(accountId, uuid, body);
    const bytes = await readInPieces(database, value, { at: 0, length });
    if (bytes === undefined) throw new Error('its content was deleted while it was being read');
    return bytes;
  };
  const [html, text] = [await load('html'), await load('text')];
  return [{ ...row, html, text, attachments: await load('attachments') }];
}

function readEmail(row: EmailRow): StoredEmail | UnreadableEmail {
  try {
    return toEmail(row);
  } catch (error) {
    return { fault: error as Error };
  }
}

/** One email that is not claimed, for display. */
export async function loadEmail(
  database: Database,
  accountId: number,
  uuid: string,
): Promise<StoredEmail | undefined> {
  const emails = await loadEmails(database, [{ accountId, messageId: uuidToBytes(uuid) }]);
  const email = emails.get(uuid);
  if (email !== undefined && 'fault' in email) throw email.fault;
  return email;
}

interface EmailRow
  extends Omit<StoredEmail, 'messageId' | 'account' | 'head' | 'tags'>,
    Omit<AccountSwitches, 'id'> {
  uuid: string;
  tags: string[] | null;
  head: Buffer;
}

function toEmail(row: EmailRow): StoredEmail {
  const { accountId, version, trackOpens, trackClicks, unknownOutcome } = row;
  const head = readHead(row.head);
  return {
    accountId,
    messageId: uuidToBytes(row.uuid),
    door: row.door,
    account: { id: accountId, version, trackOpens, trackClicks, unknownOutcome },
    stream: row.stream,
    tags: row.tags ?? [],
    template: row.template,
    leavable: row.leavable && !isAboutAccess(head),
    recipients: row.recipients,
    subject: row.subject,
    scheduledAt: row.scheduledAt,
    head,
    html: row.html,
    text: row.text,
    attachments: row.attachments,
  };
}

/** What to ask with whether a recipient gets their copy. */
export const asked = (
  { accountId, stream, leavable, head }: StoredEmail,
  address: string,
): AskedRecipient => ({
  accountId,
  address,
  leavable,
  stream: heededStream(head, stream),
});

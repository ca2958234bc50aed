// Loading claimed mails: message and content of a group in one round trip, a large one piece by
// piece, so that it holds up nobody.
import type { UnknownOutcome } from '../accounts/accounts.ts';
import { bytesToUuid, uuidToBytes } from '../ids.ts';
import type { Door } from '../messages/door.ts';
import type { ClaimedMessage } from '../queue/due.ts';
import { readHead, type StoredHead } from '../sending/stored-head.ts';
import type { Database } from '../store/pool.ts';

/** What the account wants, as it is when the mail is loaded. */
export interface AccountSwitches {
  id: number;
  version: number;
  trackOpens: boolean;
  trackClicks: boolean;
  oneClickUnsubscribe: boolean;
  unknownOutcome: UnknownOutcome;
}

export interface StoredMail {
  accountId: number;
  messageId: Buffer;
  door: Door;
  account: AccountSwitches;
  recipients: string[];
  subject: string;
  head: StoredHead;
  html: Buffer | null;
  text: Buffer | null;
  attachments: Buffer | null;
}

/** A mail that is there and cannot be read. */
export interface UnreadableMail {
  fault: Error;
}

/** What is loaded: with its size in bytes, where it is known. */
type Wanted = Pick<ClaimedMessage, 'accountId' | 'messageId'> &
  Partial<Pick<ClaimedMessage, 'size'>>;

/**
 * By uuid. A mail whose content was pruned is not among them; one that cannot be read says so by
 * itself.
 */
export async function loadMails(
  database: Database,
  wanted: readonly Wanted[],
): Promise<Map<string, StoredMail | UnreadableMail>> {
  const isSmall = ({ size }: Wanted) => size !== undefined && size <= PIECE_BYTES;
  const small = wanted.filter(isSmall);
  const rows = small.length === 0 ? [] : await loadRows<MailRow>(database, small, BODIES);
  for (const mail of wanted) {
    if (!isSmall(mail)) rows.push(...(await loadLarge(database, mail)));
  }
  return new Map(rows.map((row) => [row.uuid, readMail(row)]));
}

const BODIES = { name: 'load-mails', columns: 'c.html, c.text, c.attachments' };
const SIZES = {
  name: 'load-large-mail',
  columns: `octet_length(c.html) AS html, octet_length(c.text) AS text,
            octet_length(c.attachments) AS attachments`,
};

async function loadRows<Row extends Omit<MailRow, Body>>(
  database: Database,
  wanted: readonly Wanted[],
  { name, columns }: { name: string; columns: string },
): Promise<Row[]> {
  const uuids = wanted.map((row) => bytesToUuid(row.messageId)).sort();
  return await database.prepared<Row>(
    name,
    // The bounds keep the planner to the partitions of these days.
    `SELECT m.account_id AS "accountId", m.id AS uuid, m.door, m.recipients, m.subject, c.head, ${columns},
            a.version, a.track_opens AS "trackOpens", a.track_clicks AS "trackClicks",
            a.one_click_unsubscribe AS "oneClickUnsubscribe", a.unknown_outcome AS "unknownOutcome"
     FROM unnest($1::bigint[], $2::uuid[]) AS d (account_id, id)
     JOIN messages m ON m.account_id = d.account_id AND m.id = d.id AND m.id BETWEEN $3 AND $4
     JOIN contents c ON c.account_id = d.account_id AND c.message_id = d.id AND c.message_id BETWEEN $3 AND $4
     JOIN accounts a ON a.id = d.account_id`,
    [
      wanted.map((row) => row.accountId),
      wanted.map((row) => bytesToUuid(row.messageId)),
      uuids[0],
      uuids.at(-1),
    ],
  );
}

type Body = 'html' | 'text' | 'attachments';

/**
 * What is asked for at a time. It comes as hexadecimal text, and reading 25 MB of that in one go
 * blocks for 250 ms.
 */
const PIECE_BYTES = 1024 * 1024;

/** None when its content is gone. */
async function loadLarge(database: Database, wanted: Wanted): Promise<MailRow[]> {
  type Sizes = Omit<MailRow, Body> & Record<Body, number | null>;
  const [row] = await loadRows<Sizes>(database, [wanted], SIZES);
  if (row === undefined) return [];
  const load = async (body: Body): Promise<Buffer | null> => {
    const size = row[body];
    return size === null ? null : await loadInPieces(database, row, body, size);
  };
  const [html, text] = [await load('html'), await load('text')];
  return [{ ...row, html, text, attachments: await load('attachments') }];
}

async function loadInPieces(
  database: Database,
  { accountId, uuid }: Pick<MailRow, 'accountId' | 'uuid'>,
  body: Body,
  size: number,
): Promise<Buffer> {
  const whole = Buffer.allocUnsafeSlow(size);
  for (let at = 0; at < size; at += PIECE_BYTES) {
    const [row] = await database.prepared<{ piece: Buffer }>(
      `load-${body}-piece`,
      `SELECT substring(${body} FROM $3 FOR $4) AS piece FROM contents
       WHERE account_id = $1 AND message_id = $2`,
      [accountId, uuid, at + 1, PIECE_BYTES],
    );
    if (row === undefined) throw new Error('its content was removed while it was read');
    row.piece.copy(whole, at);
  }
  return whole;
}

function readMail(row: MailRow): StoredMail | UnreadableMail {
  try {
    return toMail(row);
  } catch (error) {
    return { fault: error as Error };
  }
}

/** One mail that nobody claimed, to look at it. */
export async function loadMail(
  database: Database,
  accountId: number,
  uuid: string,
): Promise<StoredMail | undefined> {
  const mails = await loadMails(database, [{ accountId, messageId: uuidToBytes(uuid) }]);
  const mail = mails.get(uuid);
  if (mail !== undefined && 'fault' in mail) throw mail.fault;
  return mail;
}

interface MailRow
  extends Omit<StoredMail, 'messageId' | 'account' | 'head'>,
    Omit<AccountSwitches, 'id'> {
  uuid: string;
  head: Buffer;
}

function toMail(row: MailRow): StoredMail {
  const { uuid, head, version, trackOpens, trackClicks, oneClickUnsubscribe, ...rest } = row;
  const { unknownOutcome, ...mail } = rest;
  const switches = { trackOpens, trackClicks, oneClickUnsubscribe, unknownOutcome };
  return {
    ...mail,
    messageId: uuidToBytes(uuid),
    account: { id: mail.accountId, version, ...switches },
    head: readHead(head),
  };
}

// Messages: the list with its search, one message, its live timeline, its files, and sending it once more.
import { z } from 'zod';
import { Problem } from '../../errors.ts';
import { idTimeMs, readUuid, showUuid, uuidToBytes } from '../../ids.ts';
import { findOwnMessage, listMessages, type Message } from '../../messages/message.ts';
import { searchMessages } from '../../messages/search.ts';
import { STATUSES } from '../../messages/status.ts';
import { isOpen, type Session } from '../../people/sessions.ts';
import { acceptSend } from '../../sending/accept.ts';
import {
  readAttachment,
  readContent,
  requestAgain,
  type StoredContent,
} from '../../sending/stored-content.ts';
import type { DashboardDeps } from '../deps.ts';
import { attachmentHeaders } from '../file-headers.ts';
import {
  messageUuid,
  noMessage,
  readLiveTimeline,
  readMessagePage,
  toRow,
} from '../message-page.ts';
import { PAGE_SIZE, pageQuery, type Works } from '../route.ts';
import { isSealed, sealed } from '../sealed-mail.ts';
import type { MessagePage, MessageSearch } from '../views/messages.ts';

const LIVE_ROWS = 20;

const text = z.string().trim().max(400).optional();
const instant = z.iso.datetime({ offset: true }).optional();

type Names =
  | 'searchMessages'
  | 'getMessage'
  | 'liveMessage'
  | 'getMessageSource'
  | 'getAttachment'
  | 'sendAgain'
  | 'live';

export const messageRoutes: Works<Names> = {
  searchMessages: {
    query: z.strictObject({
      recipient: text,
      subject: text,
      tag: text,
      status: z.enum(STATUSES).optional(),
      id: text,
      from: instant,
      until: instant,
      ...pageQuery,
    }),
    run: (deps, { accountId, query }) => search(deps, accountId, query),
  },

  getMessage: {
    run: (deps, { accountId, session, params }) =>
      readMessagePage(deps.database, accountId, session, params.id),
  },

  liveMessage: {
    run: (deps, { accountId, session, params, request, reply }) =>
      request.streams.open(request, reply, {
        event: 'timeline',
        read: () => readLiveTimeline(deps.database, accountId, params.id),
        mayGoOn: () => isOpen(deps.database, session, accountId),
      }),
  },

  live: {
    run: (deps, { accountId, session, request, reply }) =>
      request.streams.open(request, reply, {
        event: 'messages',
        async read() {
          const messages = await listMessages(deps.database, { accountId, limit: LIVE_ROWS });
          return { items: messages.map(toRow) };
        },
        mayGoOn: () => isOpen(deps.database, session, accountId),
      }),
  },

  getMessageSource: {
    async run(deps, { accountId, session, params, reply }) {
      await requireOpen(deps, accountId, session, params.id);
      const source = await deps.sourceOf(accountId, messageUuid(params.id));
      if (source === undefined) throw noContent(params.id);
      reply.headers(attachmentHeaders(`${params.id}.eml`, 'text/plain; charset=utf-8'));
      return source;
    },
  },

  getAttachment: {
    async run(deps, { accountId, session, params, reply }) {
      await requireOpen(deps, accountId, session, params.id);
      const { uuid, content } = await contentOf(deps, accountId, params.id);
      const index = Number(params.index);
      const file = await readAttachment(deps.database, accountId, uuid, content.head, index);
      if (file === undefined) {
        throw new Problem(
          'not-found',
          `The message has no attachment ${params.index.slice(0, 20)}.`,
        );
      }
      reply.headers(attachmentHeaders(file.filename, 'application/octet-stream'));
      return file.content;
    },
  },

  sendAgain: {
    async run(deps, { accountId, session, params }) {
      const message = await requireOpen(deps, accountId, session, params.id);
      // A copy would be a mail of the account, which all its people may read.
      if (message.door === 'system') throw sealed();
      const { uuid, content } = await contentOf(deps, accountId, params.id);
      const request = await requestAgain(deps.database, { ...message, uuid }, content);
      const caller = await deps.directory.member(accountId);
      const { answer } = await acceptSend(deps, caller, request, { door: 'dashboard' });
      return { id: answer.id };
    },
  },
};

async function search(
  deps: DashboardDeps,
  accountId: number,
  query: MessageSearch,
): Promise<MessagePage> {
  if (query.id) return await lookUp(deps, accountId, query.id);
  const hits = await searchMessages(deps.database, accountId, {
    recipient: query.recipient || undefined,
    subject: query.subject || undefined,
    tag: query.tag || undefined,
    status: query.status,
    fromMs: query.from === undefined ? undefined : Date.parse(query.from),
    untilMs: query.until === undefined ? undefined : Date.parse(query.until),
    beforeUuid: query.before === undefined ? undefined : readBefore(query.before),
    limit: query.limit ?? PAGE_SIZE,
  });
  const { beforeUuid } = hits;
  return {
    items: hits.messages.map(toRow),
    next: beforeUuid === null ? null : showUuid('msg_', beforeUuid),
    searchedBackTo:
      beforeUuid === null ? null : new Date(idTimeMs(uuidToBytes(beforeUuid))).toISOString(),
  };
}

async function lookUp(deps: DashboardDeps, accountId: number, id: string): Promise<MessagePage> {
  const uuid = readUuid('msg_', id);
  const message = uuid && (await findOwnMessage(deps.database, accountId, uuid));
  return { items: message ? [toRow(message)] : [], next: null, searchedBackTo: null };
}

function readBefore(id: string): string {
  const uuid = readUuid('msg_', id);
  if (uuid === undefined) throw new Problem('invalid', 'before: take it from the last answer.');
  return uuid;
}

/** The message, unless its content is for its reader only. */
async function requireOpen(
  { database }: DashboardDeps,
  accountId: number,
  session: Session,
  id: string,
): Promise<Message> {
  const message = await findOwnMessage(database, accountId, messageUuid(id));
  if (message === undefined) throw noMessage(id);
  if (isSealed(message.door, session)) throw sealed();
  return message;
}

async function contentOf(
  deps: DashboardDeps,
  accountId: number,
  id: string,
): Promise<{ uuid: string; content: StoredContent }> {
  const uuid = messageUuid(id);
  const content = await readContent(deps.database, accountId, uuid);
  if (content !== undefined) return { uuid, content };
  throw noContent(id);
}

const noContent = (id: string): Problem =>
  new Problem('not-found', `The content of ${id.slice(0, 64)} is past its days and gone.`);

// What strangers write into a request's head and fields is read in time that grows with it.
import type { IncomingMessage } from 'node:http';
import { it } from 'vitest';
import { addressKey, parseAddress, parseMailbox } from '../src/addresses.ts';
import { readId } from '../src/ids.ts';
import { readRequesters } from '../src/inbound/requester.ts';
import { nearest, similarSlugs } from '../src/nearest.ts';
import { readPost } from '../src/rest/plain-posts.ts';
import { readAttachments } from '../src/sending/attachments.ts';
import { readHeaders, readTags } from '../src/sending/headers.ts';
import { expectLinearFor } from './support/growth.ts';

const quietly = (read: () => unknown): unknown => {
  try {
    return read();
  } catch (problem) {
    return problem;
  }
};
const { read: readRequester } = readRequesters(['127.0.0.0/8', '10.0.0.0/8']);
const requestWith = (headers: Record<string, string>) =>
  ({
    headers,
    method: 'GET',
    socket: { remoteAddress: '127.0.0.1' },
  }) as unknown as IncomingMessage;
const LINE = 'POST /v1/send HTTP/1.1\r\n';

it.each<[string, string[], (text: string) => unknown]>([
  ['mailboxes', ['a', '.', '@', '"', '\\', '<', '>', ' ', '-', 'xn--', 'ü', '('], parseMailbox],
  ['addresses', ['a', '.', '@', '-', 'xn--', 'ü', '1', '_', '[', ']'], parseAddress],
  ['address keys', ['a', '.', '@', 'ü', 'xn--', '。'], addressKey],
  ['names', ['from', '_', 'email', 'a', 'é'], (text) => nearest(text, ['from_email', 'to'])],
  ['slugs', ['pass', '-', 'word', ' '], (text) => similarSlugs(text, ['password-reset'])],
  ['ids', ['msg_', '0', 'A', '-'], (text) => readId('msg_', text)],
  [
    'headers',
    ['X', '-', ':', ' ', '\t', 'é'],
    (text) => quietly(() => readHeaders({ [text]: text }, new Set())),
  ],
  ['tags', ['a', '\n', '😀'], (text) => quietly(() => readTags([text]))],
  [
    'media types',
    ['a', '/', ';', ' ', '=', '"', '.'],
    (text) =>
      quietly(() =>
        readAttachments([{ filename: text, content_type: text, content_base64: text }]),
      ),
  ],
  [
    'X-Forwarded-For',
    ['10.0.0.1', ',', ' ', '[', ']', ':', '::ffff:', '1'],
    (text) => readRequester(requestWith({ 'x-forwarded-for': text, 'user-agent': text })),
  ],
  [
    'heads of plain posts',
    ['\r', '\n', '\r\n', ':', ' ', 'a', '\t', 'content-length: 1\r\n', '\xff'],
    (text) => readPost(Buffer.from(`${LINE}${text}\r\n\r\n`, 'latin1'), LINE),
  ],
])('%s', (_, pieces, read) => expectLinearFor(pieces, read, { timeMs: 1200 }));

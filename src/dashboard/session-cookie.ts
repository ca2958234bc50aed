// The session's cookie, and the one that identifies a known browser: read from a request, set and
// cleared in an answer. Before it: sessions.ts made the token, known-browser.ts the mark.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { KNOWN_DAYS } from '../people/known-browser.ts';

type Cookie = 'sm_session' | 'sm_browser';

const DAYS: Record<Cookie, number> = { sm_session: 30, sm_browser: KNOWN_DAYS };

/** With https the browser itself binds it to this host and to TLS (RFC 6265bis 4.1.3.2). */
const nameFor = (baseUrl: string, cookie: Cookie): string =>
  isHttps(baseUrl) ? `__Host-${cookie}` : cookie;

export const isHttps = (baseUrl: string): boolean => baseUrl.startsWith('https:');

export function readCookie(
  request: FastifyRequest,
  baseUrl: string,
  cookie: Cookie = 'sm_session',
): string | undefined {
  const name = nameFor(baseUrl, cookie);
  for (const part of (request.headers.cookie ?? '').split(';')) {
    const [key, value] = part.split('=', 2).map((text) => text.trim());
    if (key === name && value) return value;
  }
  return undefined;
}

/** Lax: links from elsewhere open a signed-in page; nothing that writes is a GET. */
export function setCookie(
  reply: FastifyReply,
  baseUrl: string,
  value: string,
  cookie: Cookie = 'sm_session',
): void {
  reply.header('set-cookie', written(baseUrl, cookie, value, DAYS[cookie] * 86_400));
}

export function dropCookie(reply: FastifyReply, baseUrl: string): void {
  reply.header('set-cookie', written(baseUrl, 'sm_session', '', 0));
}

const written = (baseUrl: string, cookie: Cookie, value: string, maxAgeSeconds: number): string =>
  [
    `${nameFor(baseUrl, cookie)}=${value}`,
    'Path=/',
    'HttpOnly',
    'SameSite=Lax',
    `Max-Age=${maxAgeSeconds}`,
    ...(isHttps(baseUrl) ? ['Secure'] : []),
  ].join('; ');

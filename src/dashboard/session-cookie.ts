// The session's cookie: read from a request, set and taken back in an answer. Before it:
// sessions.ts made the token.
import type { FastifyReply, FastifyRequest } from 'fastify';

const DAYS = 30;

/** With https the browser itself holds it to this host and to TLS (RFC 6265bis 4.1.3.2). */
const nameFor = (baseUrl: string): string =>
  isHttps(baseUrl) ? '__Host-sm_session' : 'sm_session';

export const isHttps = (baseUrl: string): boolean => baseUrl.startsWith('https:');

export function readCookie(request: FastifyRequest, baseUrl: string): string | undefined {
  const name = nameFor(baseUrl);
  for (const part of (request.headers.cookie ?? '').split(';')) {
    const [key, value] = part.split('=', 2).map((text) => text.trim());
    if (key === name && value) return value;
  }
  return undefined;
}

/** Lax: links from elsewhere lead to a signed-in page; nothing that writes is a GET. */
export function setCookie(reply: FastifyReply, baseUrl: string, token: string): void {
  reply.header('set-cookie', cookie(baseUrl, token, DAYS * 86_400));
}

export function dropCookie(reply: FastifyReply, baseUrl: string): void {
  reply.header('set-cookie', cookie(baseUrl, '', 0));
}

const cookie = (baseUrl: string, value: string, maxAgeSeconds: number): string =>
  [
    `${nameFor(baseUrl)}=${value}`,
    'Path=/',
    'HttpOnly',
    'SameSite=Lax',
    `Max-Age=${maxAgeSeconds}`,
    ...(isHttps(baseUrl) ? ['Secure'] : []),
  ].join('; ');

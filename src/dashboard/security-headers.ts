// Security headers of all the dashboard's answers. Pages may load only from here; JSON and files
// may load nothing.
import type { FastifyReply } from 'fastify';
import { isHttps } from './session-cookie.ts';

const policy = (parts: Record<string, string>): string =>
  Object.entries(parts)
    .map(([name, value]) => `${name} ${value}`.trim())
    .join('; ');

/** For answers that are not pages. If a browser shows one anyway, nothing in it works. */
export const DATA_POLICY = policy({
  'default-src': "'none'",
  'frame-ancestors': "'none'",
  sandbox: '',
});

/** Style elements need the nonce; scripts are never inline. */
export const pagePolicy = (nonce: string): string =>
  policy({
    'default-src': "'none'",
    'script-src': "'self'",
    'style-src': `'self' 'nonce-${nonce}'`,
    'img-src': "'self' data:",
    'font-src': "'self'",
    'connect-src': "'self'",
    'frame-src': "'self'",
    'manifest-src': "'self'",
    'base-uri': "'self'",
    'form-action': "'self'",
    'frame-ancestors': "'none'",
  });

/**
 * Emails bring their own styles and load images; nothing else in them runs, connects or submits.
 */
export const framePolicy = (scriptHash: string): string =>
  policy({
    sandbox: 'allow-scripts allow-popups allow-popups-to-escape-sandbox',
    'default-src': "'none'",
    'script-src': `'${scriptHash}'`,
    'style-src': "'unsafe-inline'",
    'img-src': 'https: http: data:',
    'font-src': 'https: data:',
    'base-uri': "'none'",
    'form-action': "'none'",
    'frame-ancestors': "'self'",
  });

export function secure(reply: FastifyReply, baseUrl: string, contentPolicy = DATA_POLICY): void {
  reply.headers({
    'content-security-policy': contentPolicy,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
    'x-robots-tag': 'noindex',
    ...(isHttps(baseUrl) ? { 'strict-transport-security': 'max-age=31536000' } : {}),
  });
}

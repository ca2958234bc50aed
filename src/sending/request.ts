// The send request: the one schema of what POST /v1/send and send_email take. It feeds validation,
// OpenAPI and the MCP tool.
import { z } from 'zod';
import { variableValues } from '../templates/variables.ts';
import { MOST_DAYS_AHEAD } from './schedule.ts';

const attachment = z.strictObject({
  filename: z.string().describe('File name, without a path.').meta({ example: 'invoice.pdf' }),
  content_base64: z.string().describe('Base64-encoded content.').meta({ example: 'JVBERi0xLjcK' }),
  content_type: z
    .string()
    .describe(
      'Media type of the content. `text/calendar; method=REQUEST` is sent as an invitation.',
    )
    .meta({ example: 'application/pdf' }),
  content_id: z
    .string()
    .optional()
    .describe('Makes it an image that the HTML shows with `<img src="cid:…">`.')
    .meta({ example: 'logo' }),
  disposition: z
    .enum(['attachment', 'inline'])
    .optional()
    .describe(
      '`inline` asks email programs to show the file below the text. Default: `attachment`.',
    ),
});

export const sendRequest = z.strictObject({
  from_email: z
    .string()
    .describe(
      'Sender, `a@b.example` or `Name <a@b.example>`. A verified address of the account, or any address at a verified domain (not its subdomains).',
    )
    .meta({ example: 'Acme <hello@acme.example>' }),
  to: z
    .array(z.string())
    .min(1, 'must name at least one recipient')
    .describe('Recipients. to, cc and bcc together name 1 to 50.')
    .meta({ example: ['ada@example.com'] }),
  cc: z.array(z.string()).optional().describe('Recipients of a copy.'),
  bcc: z
    .array(z.string())
    .optional()
    .describe('Recipients of a hidden copy. They are in the envelope only.'),
  reply_to: z.string().optional().describe('Where replies go, as the Reply-To header.'),
  subject: z
    .string()
    .optional()
    .describe(
      'Required without a template. With one, it replaces the template’s subject and is rendered as Jinja2.',
    )
    .meta({ example: 'Your receipt' }),
  html: z
    .string()
    .optional()
    .describe('HTML body. Needed when text is absent, unless a template is used.')
    .meta({ example: '<p>Thank you!</p>' }),
  text: z
    .string()
    .optional()
    .describe('Plain-text body. Derived from the HTML when blank and a template is used.'),
  template: z
    .string()
    .optional()
    .describe('Slug of the template: a system template or one of the account’s own.'),
  variables: variableValues()
    .optional()
    .describe(
      'What the template is rendered with: objects and lists nested at most 100 deep. Numbers reach it as they are written.',
    ),
  locale: z
    .string()
    .optional()
    .describe(
      'Language of the template, as a tag such as `de` or `pt-BR`; a template that does not have it uses the account’s own, or English.',
    )
    .meta({ example: 'de' }),
  stream: z
    .string()
    .max(64)
    .optional()
    .describe(
      'The stream it goes through: whoever unsubscribed from that stream gets no copy. By default the template’s, or `transactional`.',
    )
    .meta({ example: 'product-news' }),
  headers: z
    .record(z.string(), z.string())
    .optional()
    .describe(
      'Additional message headers, at most 50 and 8 KiB. Structural ones (From, Subject, Content-*, DKIM-*, X-SM-* …) are refused, and so are those that control relays (X-SMTPAPI, X-SES-*, X-Mailgun-* …).',
    )
    .meta({ example: { 'X-Order': '4711' } }),
  tags: z
    .array(z.string())
    .optional()
    .describe('Labels for analytics and webhook events: at most 20, each 1 to 128 characters.')
    .meta({ example: ['receipt'] }),
  scheduled_at: z
    .string()
    .optional()
    .describe(
      `When to send it: RFC 3339 with its offset from UTC, at most ${MOST_DAYS_AHEAD} days ahead. It is rendered now and stays \`queued\` until then.`,
    )
    .meta({ format: 'date-time', example: '2026-11-20T09:00:00+01:00' }),
  attachments: z
    .array(attachment)
    .max(50, 'must hold at most 50 attachments')
    .optional()
    .describe(
      'Files in strict base64, at most 50; the whole request is at most 25 MB. A file with a `content_id` is an image that the HTML shows with `<img src="cid:…">`; neither may be missing.',
    ),
});

const given = { type: 'string' };
const withoutTemplate = {
  template: false,
  variables: { type: 'object', maxProperties: 0 },
  locale: false,
};

/**
 * Which fields belong together: an inline body, or a template. In the words of JSON Schema;
 * content.ts says it to whoever gives neither or both.
 */
export const EITHER_BODY = {
  HtmlBody: {
    type: 'object',
    required: ['subject', 'html'],
    properties: { subject: given, html: given, ...withoutTemplate },
  },
  PlainTextBody: {
    type: 'object',
    required: ['subject', 'text'],
    properties: { subject: given, text: given, html: false, ...withoutTemplate },
  },
  TemplateBody: {
    type: 'object',
    required: ['template'],
    properties: { template: given, html: false },
  },
};

export type SendRequest = z.output<typeof sendRequest>;
export type AttachmentRequest = z.output<typeof attachment>;

export const sendAnswer = z.strictObject({
  id: z
    .string()
    .describe('Message id. Use it as sm_mail_id in later calls.')
    .meta({ example: 'msg_01K9ZQ3V7N8M2R4T6W8Y0A1B2C' }),
  status: z.literal('queued').describe('Always `queued`: delivery is asynchronous.'),
});

export type SendAnswer = z.output<typeof sendAnswer>;

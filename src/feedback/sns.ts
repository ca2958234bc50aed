// Amazon SNS messages: is it really from our topic? docs.aws.amazon.com/sns, "Verifying the
// signatures of Amazon SNS messages". inbound/ses.ts passes the body of the POST; what is accepted
// goes to ses.ts. Nothing is fetched before the topic is known to be ours and the URL to belong to
// SNS, because the body says where to fetch from.
import { verify, X509Certificate } from 'node:crypto';
import { z } from 'zod';
import { Problem } from '../errors.ts';

const snsMessage = z.object({
  Type: z.enum(['Notification', 'SubscriptionConfirmation', 'UnsubscribeConfirmation']),
  MessageId: z.string(),
  TopicArn: z.string(),
  Subject: z.string().nullish(),
  Message: z.string(),
  Timestamp: z.string(),
  Token: z.string().optional(),
  SubscribeURL: z.string().optional(),
  SignatureVersion: z.enum(['1', '2']),
  Signature: z.string(),
  SigningCertURL: z.string(),
});

export type SnsMessage = z.infer<typeof snsMessage>;

export interface SnsDeps {
  /** ARNs of the topics we listen to. */
  topics: readonly string[];
  /**
   * Fetches the PEM at a URL of SNS; follows no redirect. May cache it: the URL changes with the
   * key.
   */
  fetchCertificate: (url: string) => Promise<string>;
  nowMs: () => number;
}

/**
 * The message, if it is from one of our topics and signed by Amazon; otherwise a Problem is thrown.
 */
export async function verifySns(deps: SnsDeps, body: string): Promise<SnsMessage> {
  const message = parseSns(body);
  if (!deps.topics.includes(message.TopicArn)) {
    throw new Problem(
      'forbidden',
      `the topic ${message.TopicArn} is not on the list of allowed topics`,
    );
  }
  if (!isCertificateUrl(message.SigningCertURL)) {
    throw new Problem('forbidden', 'SigningCertURL is not a certificate of Amazon SNS');
  }
  const pem = await deps.fetchCertificate(message.SigningCertURL);
  if (!isSignedBy(pem, message, deps.nowMs())) {
    throw new Problem('forbidden', 'the signature does not match the message');
  }
  return message;
}

/** What to fetch to confirm a subscription; undefined if there is nothing to confirm. */
export function subscribeUrl(message: SnsMessage): string | undefined {
  if (message.Type !== 'SubscriptionConfirmation') return undefined;
  const url = message.SubscribeURL;
  if (url === undefined || !isConfirmation(url, message)) {
    throw new Problem('forbidden', 'SubscribeURL does not confirm this topic at Amazon SNS');
  }
  return url;
}

function parseSns(body: string): SnsMessage {
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch (cause) {
    throw new Problem('invalid', 'the body is not JSON', { cause });
  }
  const parsed = snsMessage.safeParse(json);
  if (!parsed.success) {
    const path = parsed.error.issues[0]?.path.join('.') || 'the body';
    throw new Problem('invalid', `not a message of Amazon SNS: ${path} is missing or wrong`);
  }
  return parsed.data;
}

/**
 * Exactly what Amazon writes:
 * `https://sns.<region>.amazonaws.com/SimpleNotificationService-<hex>.pem`, or its Chinese
 * counterpart. Compared as text, so that nothing can mean one thing here and another to the fetch;
 * anyone could put a certificate into a bucket or behind a query.
 */
export function isCertificateUrl(url: string): boolean {
  return SNS_CERTIFICATE.test(url);
}
const SNS = 'https://sns\\.[a-z]{2,4}(?:-[a-z]{1,20}){1,3}-\\d{1,2}\\.amazonaws\\.com(?:\\.cn)?';
const SNS_CERTIFICATE = new RegExp(`^${SNS}/SimpleNotificationService-[\\da-f]{16,64}\\.pem$`);

/** SNS itself, asked only to confirm the topic of the message with its token. */
function isConfirmation(text: string, { TopicArn, Token }: SnsMessage): boolean {
  if (!SNS_QUERY.test(text)) return false;
  const asked = [...new URL(text).searchParams].sort(([one], [other]) => (one < other ? -1 : 1));
  const wanted = [
    ['Action', 'ConfirmSubscription'],
    ['Token', Token],
    ['TopicArn', TopicArn],
  ];
  return JSON.stringify(asked) === JSON.stringify(wanted);
}
const SNS_QUERY = new RegExp(`^${SNS}/\\?[\\w%&=.:-]{1,2000}$`);

function isSignedBy(pem: string, message: SnsMessage, nowMs: number): boolean {
  try {
    const certificate = new X509Certificate(pem);
    const isCurrent =
      nowMs >= Date.parse(certificate.validFrom) && nowMs <= Date.parse(certificate.validTo);
    const algorithm = message.SignatureVersion === '1' ? 'RSA-SHA1' : 'RSA-SHA256';
    const signature = Buffer.from(message.Signature, 'base64');
    const signed = Buffer.from(canonicalString(message));
    return isCurrent && verify(algorithm, signed, certificate.publicKey, signature);
  } catch {
    return false; // not a certificate, or not an RSA key
  }
}

/** Names and values on a line each, sorted by name; Subject only if there is one. */
export function canonicalString(message: SnsMessage): string {
  const names =
    message.Type === 'Notification'
      ? (['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'] as const)
      : ([
          'Message',
          'MessageId',
          'SubscribeURL',
          'Timestamp',
          'Token',
          'TopicArn',
          'Type',
        ] as const);
  return names
    .filter((name) => message[name] !== undefined && message[name] !== null)
    .map((name) => `${name}\n${message[name]}\n`)
    .join('');
}

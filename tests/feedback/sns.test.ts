// Amazon SNS: only what Amazon signed for our topics passes, and nothing is fetched from anywhere
// else.
import { sign } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Problem } from '../../src/errors.ts';
import {
  canonicalString,
  isCertificateUrl,
  type SnsMessage,
  subscribeUrl,
  verifySns,
} from '../../src/feedback/sns.ts';
import { rsaCertificate, rsaKeys } from './rsa-certificate.ts';

const NOW = Date.parse('2026-11-15T00:00:00Z');
const DAY = 86_400_000;
const keys = rsaKeys();
const amazon = rsaCertificate(NOW - DAY, NOW + DAY, keys);
const other = rsaCertificate(NOW - DAY, NOW + DAY);
const TOPIC = 'arn:aws:sns:eu-central-1:123456789012:ses-events';
const CERT_URL =
  'https://sns.eu-central-1.amazonaws.com/SimpleNotificationService-0123456789abcdef.pem';

function signed(changes: Partial<SnsMessage> = {}, certificate = amazon): SnsMessage {
  const message: SnsMessage = {
    Type: 'Notification',
    MessageId: '22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324',
    TopicArn: TOPIC,
    Message: '{"eventType":"Send"}\nwith ümläuts',
    Timestamp: '2026-11-15T00:00:00.000Z',
    SignatureVersion: '2',
    Signature: '',
    SigningCertURL: CERT_URL,
    ...changes,
  };
  const algorithm = message.SignatureVersion === '1' ? 'RSA-SHA1' : 'RSA-SHA256';
  const signature = sign(algorithm, Buffer.from(canonicalString(message)), certificate.privateKey);
  return { ...message, Signature: signature.toString('base64') };
}

const fetched: string[] = [];
function check(message: unknown, pem = amazon.pem) {
  fetched.length = 0;
  const deps = {
    topics: [TOPIC],
    fetchCertificate: async (url: string) => {
      fetched.push(url);
      return pem;
    },
    nowMs: () => NOW,
  };
  return verifySns(deps, typeof message === 'string' ? message : JSON.stringify(message));
}

describe('what passes', () => {
  it.each(['1', '2'] as const)('signature version %s', async (SignatureVersion) => {
    const message = signed({ SignatureVersion });
    await expect(check(message)).resolves.toEqual(message);
    expect(fetched).toEqual([CERT_URL]);
  });

  it('with a subject, and with fields we do not know', async () => {
    const message = {
      ...signed({ Subject: 'Amazon SES Email Event Notification' }),
      UnsubscribeURL: 'https://x.example/',
    };
    await expect(check(message)).resolves.toMatchObject({ Subject: message.Subject });
  });

  it('a subscription, with the address that confirms it', async () => {
    const url = `https://sns.eu-central-1.amazonaws.com/?Action=ConfirmSubscription&TopicArn=${TOPIC}&Token=abc`;
    const message = await check(
      signed({ Type: 'SubscriptionConfirmation', Token: 'abc', SubscribeURL: url }),
    );
    expect(subscribeUrl(message)).toBe(url);
    expect(subscribeUrl(signed())).toBeUndefined();
  });

  it('signs exactly the documented lines', () => {
    expect(canonicalString(signed({ Message: 'Hello', Subject: 'Hi' }))).toBe(
      `Message\nHello\nMessageId\n22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324\nSubject\nHi\nTimestamp\n2026-11-15T00:00:00.000Z\nTopicArn\n${TOPIC}\nType\nNotification\n`,
    );
    expect(
      canonicalString(
        signed({
          Type: 'SubscriptionConfirmation',
          Message: 'Hello',
          Token: 't',
          SubscribeURL: 'u',
        }),
      ),
    ).toBe(
      `Message\nHello\nMessageId\n22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324\nSubscribeURL\nu\nTimestamp\n2026-11-15T00:00:00.000Z\nToken\nt\nTopicArn\n${TOPIC}\nType\nSubscriptionConfirmation\n`,
    );
  });
});

describe('what does not', () => {
  it('another topic: not even the certificate is fetched', async () => {
    await expect(check(signed({ TopicArn: `${TOPIC}-evil` }))).rejects.toMatchObject({
      code: 'forbidden',
    });
    expect(fetched).toEqual([]);
  });

  it.each([
    'http://sns.eu-central-1.amazonaws.com/SimpleNotificationService-0123456789abcdef.pem',
    'https://sns.eu-central-1.amazonaws.com.evil.example/SimpleNotificationService-0123456789abcdef.pem',
    'https://evil.example/sns.eu-central-1.amazonaws.com/SimpleNotificationService-0123456789abcdef.pem',
    'https://sns.eu-central-1.amazonaws.com@evil.example/SimpleNotificationService-0123456789abcdef.pem',
    'https://user:pw@sns.eu-central-1.amazonaws.com/SimpleNotificationService-0123456789abcdef.pem',
    'https://sns.eu-central-1.amazonaws.com:8443/SimpleNotificationService-0123456789abcdef.pem',
    'https://bucket.s3.eu-central-1.amazonaws.com/SimpleNotificationService-0123456789abcdef.pem',
    'https://evil-sns.eu-central-1.amazonaws.com/SimpleNotificationService-0123456789abcdef.pem',
    'https://sns.evil.amazonaws.com/SimpleNotificationService-0123456789abcdef.pem',
    'https://sns.eu-central-1.amazonaws.com.cn.evil.example/SimpleNotificationService-0123456789abcdef.pem',
    'https://169.254.169.254/latest',
    'file:///etc/passwd',
    `${CERT_URL}?x=1`,
    `${CERT_URL}#x`,
    `${CERT_URL}/../x.pem`,
    'https://sns.eu-central-1.amazonaws.com/?Action=GetTopic&x=SimpleNotificationService-0123456789abcdef.pem',
    'https://sns.eu-central-1.amazonaws.com/a/SimpleNotificationService-0123456789abcdef.pem',
    'https://sns.eu-central-1.amazonaws.com//SimpleNotificationService-0123456789abcdef.pem',
    'https://sns.eu-central-1.amazonaws.com/SimpleNotificationService-xyz.pem',
    'https://sns.eu-central-1.amazonaws.com/SimpleNotificationService-.pem',
    'https://sns.eu-central-1.amazonaws.com/evil.pem',
    'https:\\\\sns.eu-central-1.amazonaws.com/SimpleNotificationService-0123456789abcdef.pem',
    ` ${CERT_URL}`,
    `${CERT_URL}\n`,
    'https://sns.eu-central-1.amazonaws.com./SimpleNotificationService-0123456789abcdef.pem',
    'https://SNS.eu-central-1.amazonaws.com/SimpleNotificationService-0123456789abcdef.pem',
    'nonsense',
    '',
  ])('a certificate at %s is never fetched', async (SigningCertURL) => {
    expect(isCertificateUrl(SigningCertURL)).toBe(false);
    await expect(check(signed({ SigningCertURL }))).rejects.toMatchObject({ code: 'forbidden' });
    expect(fetched).toEqual([]);
  });

  it('any changed field', async () => {
    const message = signed({ Subject: 'Hi' });
    for (const name of ['Message', 'MessageId', 'Subject', 'Timestamp'] as const) {
      await expect(check({ ...message, [name]: `${message[name]}x` })).rejects.toMatchObject({
        code: 'forbidden',
      });
    }
    await expect(check({ ...message, Subject: undefined })).rejects.toMatchObject({
      code: 'forbidden',
    });
    await expect(check({ ...message, SignatureVersion: '1' })).rejects.toMatchObject({
      code: 'forbidden',
    });
  });

  it('another key, a certificate out of its time, no certificate at all', async () => {
    await expect(check(signed({}, other))).rejects.toMatchObject({ code: 'forbidden' });
    for (const late of [
      rsaCertificate(NOW - 2 * DAY, NOW - DAY, keys),
      rsaCertificate(NOW + DAY, NOW + 2 * DAY, keys),
    ]) {
      await expect(check(signed({}, late), late.pem)).rejects.toMatchObject({ code: 'forbidden' });
    }
    await expect(check(signed(), 'nonsense')).rejects.toMatchObject({ code: 'forbidden' });
  });

  const CONFIRM = 'https://sns.eu-central-1.amazonaws.com/?Action=ConfirmSubscription';
  it.each([
    'https://evil.example/?Action=ConfirmSubscription',
    `${CONFIRM}&TopicArn=${TOPIC}`,
    `${CONFIRM}&TopicArn=${TOPIC}x&Token=abc`,
    `${CONFIRM}&TopicArn=${TOPIC}&Token=other`,
    `${CONFIRM}&TopicArn=${TOPIC}&Token=abc&Endpoint=x`,
    `${CONFIRM}&TopicArn=${TOPIC}&Token=abc&Action=DeleteTopic`,
    `${CONFIRM}&TopicArn=${TOPIC}&Token=abc`.replace('ConfirmSubscription', 'DeleteTopic'),
    `${CONFIRM}&TopicArn=${TOPIC}&Token=abc`.replace('https:', 'http:'),
    `${CONFIRM}&TopicArn=${TOPIC}&Token=abc`.replace('.com/', '.com:444/'),
  ])('a SubscribeURL that is not of SNS or asks for more: %s', async (SubscribeURL) => {
    const message = await check(
      signed({ Type: 'SubscriptionConfirmation', Token: 'abc', SubscribeURL }),
    );
    expect(() => subscribeUrl(message)).toThrow(Problem);
  });

  it('anything that is no message', async () => {
    for (const body of [
      '',
      'null',
      '[]',
      '{}',
      '{"Type":"Notification"}',
      JSON.stringify({ ...signed(), SignatureVersion: '3' }),
    ]) {
      await expect(check(body)).rejects.toMatchObject({ code: 'invalid' });
    }
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.string(), fc.json()), async (body) => {
        await expect(check(body)).rejects.toBeInstanceOf(Problem);
      }),
    );
  });
});

it('knows the hosts of SNS', () => {
  for (const region of [
    'us-east-1',
    'eu-central-1',
    'ap-southeast-2',
    'us-gov-west-1',
    'me-central-1',
    'il-central-1',
  ]) {
    expect(
      isCertificateUrl(
        `https://sns.${region}.amazonaws.com/SimpleNotificationService-7ff5318490ec183fbaddaa2a969abfda.pem`,
      ),
    ).toBe(true);
  }
  expect(
    isCertificateUrl(
      'https://sns.cn-north-1.amazonaws.com.cn/SimpleNotificationService-7ff5318490ec183fbaddaa2a969abfda.pem',
    ),
  ).toBe(true);
});

// Signatures: what we send is what the specification, Standard Webhooks and our own verifier say.
import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { attemptHeaders, newSecret, sign, signStandard } from '../../src/webhooks/sign.ts';
import { verify, verifyStandard } from '../../src/webhooks/verify.ts';

// The vector of the reference libraries ("sign function works").
const vector = {
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  timestampSeconds: 1614265330,
  body: Buffer.from('{"test": 2432232314}'),
  signature: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
};
const body = Buffer.from('{"event_type":"delivery","user_id":1,"payload":{"tags":["größe 😀"]}}');
const nowMs = Date.now();
const attempt = (secrets: [string, ...string[]]) =>
  attemptHeaders({ eventId: 'evt_1', attempt: 3, body, secrets, nowMs });

describe('secrets', () => {
  it('is whsec_ and the base64 of 32 bytes, another each time', () => {
    const secrets = Array.from({ length: 100 }, newSecret);
    expect(new Set(secrets).size).toBe(100);
    for (const secret of secrets) {
      expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
      expect(Buffer.from(secret.slice(6), 'base64')).toHaveLength(32);
    }
  });
});

describe('X-SM-Signature', () => {
  it('is the HMAC-SHA256 of the raw body under the whole secret, in lower hex', () => {
    // RFC 4231, test case 2.
    expect(sign(Buffer.from('what do ya want for nothing?'), 'Jefe')).toBe(
      'sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    );
    const secret = newSecret();
    expect(attempt([secret])['x-sm-signature']).toBe(
      `sha256=${createHmac('sha256', Buffer.from(secret)).update(body).digest('hex')}`,
    );
  });

  it('uses the newest secret while two are valid', () => {
    const [newest, older] = [newSecret(), newSecret()] as const;
    const header = attempt([newest, older])['x-sm-signature'];
    expect(header).toBe(sign(body, newest));
    expect(verify(body, header, newest)).toBe(true);
    expect(verify(body, header, older)).toBe(false);
    expect(verify(body, header, [older, newest])).toBe(true);
  });
});

describe('Standard Webhooks', () => {
  it('reproduces the published vector', () => {
    const { id, timestampSeconds, secret } = vector;
    expect(signStandard(id, timestampSeconds, vector.body, secret)).toBe(vector.signature);
  });

  it('is accepted by the reference library, with either secret', () => {
    const secrets: [string, string] = [newSecret(), newSecret()];
    const headers = attempt(secrets);
    expect(headers['webhook-signature']).toMatch(/^v1,\S{44} v1,\S{44}$/);
    expect(headers['webhook-signature'].split(' ')[0]).toBe(
      signStandard('evt_1', Math.floor(nowMs / 1000), body, secrets[0]),
    );
    for (const secret of secrets) {
      expect(new Webhook(secret).verify(body.toString(), headers)).toEqual(
        JSON.parse(body.toString()),
      );
    }
    expect(() => new Webhook(newSecret()).verify(body.toString(), headers)).toThrow(/No matching/);
  });
});

describe('headers', () => {
  it('names event and attempt, the id being the same in both schemes', () => {
    expect(attempt([newSecret()])).toMatchObject({
      'content-type': 'application/json',
      'x-sm-event-id': 'evt_1',
      'webhook-id': 'evt_1',
      'x-sm-attempt': '3',
      'webhook-timestamp': String(Math.floor(nowMs / 1000)),
    });
  });
});

describe('verify', () => {
  const secret = newSecret();
  const header = sign(body, secret);

  it('takes the raw body as bytes or as text', () => {
    expect(verify(body, header, secret)).toBe(true);
    expect(verify(new Uint8Array(body), header, secret)).toBe(true);
    expect(verify(body.toString(), header, secret)).toBe(true);
  });

  it('refuses another body, secret or signature', () => {
    const flipped = header.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    expect(verify(Buffer.concat([body, Buffer.from(' ')]), header, secret)).toBe(false);
    expect(verify(body, header, newSecret())).toBe(false);
    expect(verify(body, header, secret.slice('whsec_'.length))).toBe(false);
    expect(verify(body, header, [])).toBe(false);
    for (const wrong of [
      flipped,
      header.slice(0, -1),
      `${header}0`,
      header.toUpperCase(),
      header.replace('sha256=', ''),
      header.replace('sha256=', 'sha1='),
      `sha256=${'é'.repeat(64)}`,
      '',
      undefined,
      [],
      [header, header],
    ]) {
      expect(verify(body, wrong, secret)).toBe(false);
    }
  });

  it('never accepts an empty secret, under which anyone could sign', () => {
    expect(verify(body, sign(body, ''), '')).toBe(false);
    const headers = attempt(['whsec_']);
    for (const empty of ['', 'whsec_', 'whsec_!!!!']) {
      expect(verifyStandard(body, headers, empty, { nowMs })).toBe(false);
    }
  });
});

describe('verifyStandard', () => {
  const secret = newSecret();
  const headers = attempt([secret]);

  it('agrees with the reference library', () => {
    const theirs = new Webhook(secret).sign('evt_9', new Date(nowMs), body.toString());
    expect(
      verifyStandard(
        body,
        {
          'webhook-id': 'evt_9',
          'webhook-timestamp': String(Math.floor(nowMs / 1000)),
          'webhook-signature': `v1a,xyz v2,abc ${theirs}`,
        },
        secret,
      ),
    ).toBe(true);
  });

  it('covers id, time and body', () => {
    const check = (changed: object, raw: Buffer = body, at = nowMs) =>
      verifyStandard(raw, { ...headers, ...changed }, secret, { nowMs: at });
    expect(check({})).toBe(true);
    expect(check({ 'webhook-id': 'evt_2' })).toBe(false);
    expect(check({ 'webhook-timestamp': String(Math.floor(nowMs / 1000) + 1) })).toBe(false);
    expect(check({ 'webhook-timestamp': 'soon' })).toBe(false);
    expect(check({}, Buffer.from('{}'))).toBe(false);
    expect(check({ 'webhook-signature': undefined })).toBe(false);
    expect(check({ 'webhook-signature': 'v1,' })).toBe(false);
    expect(check({ 'webhook-id': undefined })).toBe(false);
  });

  it('refuses what is older or newer than five minutes', () => {
    const at = (seconds: number) => ({ nowMs: Math.floor(nowMs / 1000) * 1000 + seconds * 1000 });
    expect(verifyStandard(body, headers, secret, at(300))).toBe(true);
    expect(verifyStandard(body, headers, secret, at(301))).toBe(false);
    expect(verifyStandard(body, headers, secret, at(-301))).toBe(false);
    expect(verifyStandard(body, headers, secret, { ...at(3600), toleranceSeconds: 3600 })).toBe(
      true,
    );
  });
});

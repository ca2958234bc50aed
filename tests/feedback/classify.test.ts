// The classifier against 600 labelled diagnostics. The labels are what a person reading the reply
// would say.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { REASONS, type Reason } from '../../src/events/reasons.ts';
import { classify } from '../../src/feedback/classify.ts';

interface Sample {
  type: string;
  reason: Reason;
  text: string;
}

const corpus: Sample[] = readFileSync(
  new URL('../fixtures/bounces/diagnostics.tsv', import.meta.url),
  'utf8',
)
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => {
    const [type, reason, text] = line.split('\t');
    return { type: type!, reason: reason as Reason, text: text! };
  });

const share = (samples: readonly Sample[], isRight: (sample: Sample) => boolean) =>
  samples.filter(isRight).length / samples.length;
const rightType = (sample: Sample) => classify(null, sample.text).bounceType === sample.type;
const rightReason = (sample: Sample) => classify(null, sample.text).reason === sample.reason;

describe('the labelled corpus', () => {
  it('has only reasons of the closed list', () => {
    expect(corpus.length).toBeGreaterThanOrEqual(600);
    expect(corpus.filter(({ reason }) => !REASONS.includes(reason))).toEqual([]);
  });

  it('is judged permanent or transient in 99 of 100', () => {
    expect(share(corpus, rightType)).toBeGreaterThanOrEqual(0.99);
  });

  it('gets the right reason in 97 of 100', () => {
    expect(share(corpus, rightReason)).toBeGreaterThanOrEqual(0.97);
  });

  const common = REASONS.filter((reason) => corpus.filter((s) => s.reason === reason).length >= 8);
  it.each(common)('gets %s right in 9 of 10', (reason) => {
    const samples = corpus.filter((sample) => sample.reason === reason);
    expect(share(samples, rightReason)).toBeGreaterThanOrEqual(0.85);
  });
});

describe('the order of evidence', () => {
  it.each([
    ['a status alone', '5.1.1', '', 'user-unknown'],
    ['words over a generic status', '5.7.1', '550 5.7.1 no such user', 'user-unknown'],
    ['words over a generic status', '5.0.0', '550 mailbox full', 'mailbox-full'],
    ['a specific status over vague words', '5.1.1', '550 5.1.1 access denied', 'user-unknown'],
    [
      'a quoted code over a generic status',
      '5.0.0',
      '5.3.0 - other (550 5.1.1 rejected)',
      'user-unknown',
    ],
    ['the reply code at last', null, '552 sorry', 'mailbox-full'],
    [
      'names in addresses do not count',
      '5.1.1',
      '550 5.1.1 <spam-blocked@full.example>: user unknown',
      'user-unknown',
    ],
    ['a host address is no code', null, '550 blocked host 5.2.2.7', 'policy'],
    ['nothing at all', null, '', 'other'],
  ])('%s', (_, status, text, reason) => {
    expect(classify(status, text).reason).toBe(reason);
  });

  it.each([
    ['5.2.2', '452 mailbox full', 'permanent'],
    ['4.4.7', '550 expired', 'transient'],
    [null, '550 5.1.1 unknown', 'permanent'],
    [null, '451 4.7.1 greylisted', 'transient'],
    [null, '550 unknown', 'permanent'],
    [null, '421 busy', 'transient'],
    [null, 'The mailbox is full', 'transient'],
    [null, 'User unknown', 'permanent'],
    [null, 'retry timeout exceeded', 'transient'],
  ])('class of %s "%s" is %s', (status, text, type) => {
    expect(classify(status, text).bounceType).toBe(type);
  });
});

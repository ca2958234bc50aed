// The refusals of the API, each described once and named, and the header fields that tell how
// limits stand.

interface Described {
  name: string;
  description: string;
  /** Carries `retry-after`. */
  waits?: true;
}

const REFUSALS: Record<number, Described> = {
  400: {
    name: 'Invalid',
    description: 'The request is not valid; `detail` says what to change, `faults` where.',
  },
  401: { name: 'Unauthenticated', description: 'The API key is missing, unknown or expired.' },
  402: { name: 'NotPaying', description: 'The key belongs to a non-paying account.' },
  403: {
    name: 'Forbidden',
    description:
      'The key lacks the scope, a rule of the key or the account forbids it, or `from_email` is not a verified identity of the account.',
  },
  404: { name: 'NotFound', description: 'Not found among what this account can see.' },
  409: { name: 'Conflict', description: 'It conflicts with the current state; `detail` says why.' },
  412: { name: 'Stale', description: 'Someone else has changed it since; `detail` says what.' },
  429: {
    name: 'OverLimit',
    description: 'A quota or rate is used up. Wait for `retry-after` seconds.',
    waits: true,
  },
  500: {
    name: 'InternalFault',
    description:
      'A fault in the service. It was logged. The call may or may not have taken effect: a send with an `Idempotency-Key` can be retried safely.',
  },
  502: {
    name: 'RelayDown',
    description:
      'The SMTP relay cannot be reached; nothing was queued. Try again after `retry-after` seconds.',
    waits: true,
  },
  503: {
    name: 'Unavailable',
    description:
      'The service cannot do this right now, because its database cannot be reached or too much is waiting. Try again after `retry-after` seconds.',
    waits: true,
  },
};

const RETRY_AFTER = {
  description: 'Seconds to wait before the next try.',
  schema: { type: 'integer', minimum: 1 },
};

export const REQUEST_ID = {
  'x-request-id': {
    description:
      'Id of the call, as in the log and the audit: the one the caller sent, or a generated one.',
    schema: { type: 'string' },
  },
};

export const ETAG = {
  etag: {
    description:
      'The version of what can be edited. Pass it as If-Match to change only that version.',
    schema: { type: 'string' },
  },
};

export const RESPONSES = Object.fromEntries(
  Object.values(REFUSALS).map(({ name, description, waits }) => [
    name,
    {
      description,
      headers: { ...REQUEST_ID, ...(waits ? { 'retry-after': RETRY_AFTER } : {}) },
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Problem' } } },
    },
  ]),
);

export const responseNamed = (status: number): object => ({
  $ref: `#/components/responses/${REFUSALS[status]!.name}`,
});

const header = (description: string) => ({ description, schema: { type: 'integer' } });
export const LIMIT_HEADERS = {
  'ratelimit-limit': header('Recipients a day.'),
  'ratelimit-remaining': header('How many of them are left today.'),
  'ratelimit-reset': header('Seconds until it resets.'),
};

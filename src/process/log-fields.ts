// The ONE list of what a line of the log may say besides its text: names that operators build
// searches and alerts on. TypeScript refuses any other in a call of the log (log.ts), and the table
// in docs/operations.md is made from it. Names are stable: add new ones, and look first whether one
// of these says it already.

/** What a value is, by the word that the table has for it. */
interface Types {
  text: string;
  number: number;
  boolean: boolean;
  time: Date | string;
  list: readonly unknown[];
  error: unknown;
}

interface Field<Type extends keyof Types = keyof Types> {
  type: Type;
  about: string;
}

const field =
  <Type extends keyof Types>(type: Type) =>
  (about: string): Field<Type> => ({ type, about });
const text = field('text');
const number = field('number');
const boolean = field('boolean');
const time = field('time');
const list = field('list');

/** In the order of the table. */
export const LOG_FIELDS = {
  account: number('the account'),
  message: text('id of the message'),
  door: text('how a call came in: `rest`, `smtp`, `mcp`, …'),
  request: text('its id: the caller’s `x-request-id`, or a generated one'),
  operation: text('the operation that was called, such as `send_email`'),
  code: text('of a refusal: the code that callers see'),
  why: text('the reason, as a word or in words'),
  detail: text('what exactly was said or found'),
  err: field('error')('`type`, `message`, `code` and `stack` of an error, and its `cause`'),
  unsaid: number('how often the same thing happened since it was last logged'),
  ms: number('milliseconds it took or lasted'),
  relay: text('name of the relay'),
  stage: text('how far a connection to the relay got'),
  attempt: number('which attempt it was'),
  response: text('what the relay answered'),
  endpoint: text('id of the webhook endpoint'),
  delivery: text('id of the webhook delivery'),
  event: text('id of the event'),
  url: text('URL of the webhook endpoint'),
  status: number('HTTP status of the answer'),
  domain: text('the sending domain'),
  verified: boolean('whether the domain still counts as verified'),
  missing: list('which DNS records it lacks'),
  stream: text('name of the stream'),
  none: boolean('the recipient wants no stream at all'),
  kind: text('kind of report or event'),
  provider: text('the email provider that reported, such as `postmark`'),
  topic: text('the SNS topic'),
  network: text('the network that a report came from'),
  notice: text('kind of an email of the service itself'),
  wish: text('what an approver decided: `approve` or `decline`'),
  act: text('the step that the sandbox plays'),
  emails: number('how many emails'),
  bytes: number('how many bytes'),
  mostEmails: number('the limit on emails in the queue (`QUEUE_LIMIT`)'),
  mostBytes: number('the limit on their bytes (`QUEUE_LIMIT_BYTES`)'),
  dropped: number('how many were dropped'),
  table: text('the table'),
  tables: list('the tables'),
  server: text('the database server'),
  part: text('the part of the program that speaks'),
  job: text('the job of a thread'),
  jobs: list('the jobs that a thread left behind: `job` and `share` of each'),
  share: text('whose turn it was: an account, or a common one'),
  begun: list('what had begun just before: `what`, `account` and `msAgo` of each'),
  from: time('the clock before it jumped'),
  to: time('the clock after it jumped'),
  nothingIsDroppedBefore: time('until when old data is kept, in case the clock is wrong'),
} satisfies Record<string, Field>;

export type LogFields = {
  [Name in keyof typeof LOG_FIELDS]?: Types[(typeof LOG_FIELDS)[Name]['type']] | undefined;
};

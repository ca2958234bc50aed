// The tools: every operation that agents may see, from the same list as REST.
import { DEFAULT_STREAM } from '../messages/stream.ts';
import { OPERATIONS } from '../operations/all.ts';
import type { Operation } from '../operations/operation.ts';
import { CONTENT_TOOLS } from './content-tools.ts';
import { EMAIL_TOOLS } from './email-tools.ts';
import { type Tool, toolOf } from './tool.ts';

/** Agents read from the top: first what can be sent, then sending it, then what happened to it. */
const FIRST = ['list_templates', 'get_template', 'send_email', 'get_email_status', 'get_account'];

/** Fields whose names say it all, or that the first tools describe. */
const OBVIOUS: ReadonlySet<string> = new Set([
  ...['slug', 'sm_mail_id', 'scheduled_at', 'id', 'domain', 'address', 'name'],
]);
const special = new Map(
  [...EMAIL_TOOLS, ...CONTENT_TOOLS].map((tool) => [tool.operation.name, tool]),
);
/** Which parts of other tools' answers consist entirely of our own words. */
const OURS: Record<string, NonNullable<Tool['ours']>> = {
  list_simulator_addresses: (part) => 'plays' in part,
  // The stream that always exists, as long as nobody has renamed it.
  list_streams: (part) => part.name === DEFAULT_STREAM && part.created_at === null,
};
const plainTool = (operation: Operation): Tool => {
  const ours = OURS[operation.name];
  return { ...toolOf(operation, undefined, OBVIOUS), ...(ours && { ours }) };
};
const offered = OPERATIONS.filter(({ tool }) => tool !== undefined).map(
  (operation) => special.get(operation.name) ?? plainTool(operation),
);
const isFirst = ({ operation }: Tool): boolean => FIRST.includes(operation.name);

export const TOOLS: readonly Tool[] = [
  ...FIRST.map((name) => offered.find(({ operation }) => operation.name === name)!),
  ...offered.filter((tool) => !isFirst(tool)),
];

// What tells one request from another: a hash of what it says. Before it: idempotency.ts has a key.
// After it: accept_sends compares it with that of the first request under the key.
import { hash } from 'node:crypto';

/**
 * Of the parsed request, in the schema's order of fields: white space and field order make no other
 * request.
 */
export const hashOfRequest = (request: object, keyId = ''): Buffer =>
  hash('sha256', `${keyId}${JSON.stringify(hashable(request))}`, 'buffer');

const LONG = 64 * 1024;

/**
 * Long texts, wherever they are, are there by their hash: 25 MB of them take JSON.stringify 100 ms,
 * and hashing 30. Integers of variables may be bigints, which it does not take at all. What holds
 * neither is not copied. How deep it goes is bounded by http/json-bytes.ts.
 */
function hashable(value: unknown): unknown {
  if (typeof value === 'string') {
    return value.length > LONG ? { sha256: hash('sha256', value) } : value;
  }
  if (typeof value === 'bigint') return `${value}`;
  if (typeof value !== 'object' || value === null) return value;
  return Array.isArray(value) ? hashableList(value) : hashableFields(value);
}

function hashableList(list: unknown[]): unknown[] {
  let copy: unknown[] | undefined;
  for (const [index, item] of list.entries()) {
    const one = hashable(item);
    if (one === item) continue;
    copy ??= [...list];
    copy[index] = one;
  }
  return copy ?? list;
}

function hashableFields(fields: object): object {
  let entries: [string, unknown][] | undefined;
  for (const [index, [name, value]] of Object.entries(fields).entries()) {
    const one = hashable(value);
    if (one === value) continue;
    entries ??= Object.entries(fields);
    entries[index] = [name, one];
  }
  // fromEntries defines, it does not assign: a field may be called __proto__.
  return entries === undefined ? fields : Object.fromEntries(entries);
}

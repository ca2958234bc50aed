// A relay's rule in words, as the command and the operators' page accept it:
// `account=4,stream=news`. Imports nothing at run time, so that web/ can import it too.
import type { RelayRule } from './stored-relays.ts';

const CONDITIONS: Record<string, keyof RelayRule> = {
  from: 'from_domain',
  stream: 'stream',
  account: 'account_id',
  tag: 'tag',
  to: 'recipient_domain',
};

export const ruleInWords = (rule: RelayRule): string =>
  Object.entries(CONDITIONS)
    .filter(([, condition]) => rule[condition] !== undefined)
    .map(([word, condition]) => `${word}=${rule[condition]}`)
    .join(',');

/** Throws an error that says what is wrong. */
export function readRule(text: string): RelayRule {
  const conditions = text.split(',').map((part): [keyof RelayRule, string | number] => {
    const at = part.indexOf('=');
    const condition = CONDITIONS[part.slice(0, at).trim()];
    const value = part.slice(at + 1).trim();
    if (at < 0 || condition === undefined || value === '') {
      throw new Error(
        `"${part.trim()}" is not a condition. Write from=DOMAIN, stream=NAME, account=ID, tag=TAG or to=DOMAIN, with commas between them.`,
      );
    }
    if (condition !== 'account_id') return [condition, value];
    if (!/^[1-9]\d{0,14}$/.test(value)) throw new Error(`"${value}" is not the id of an account.`);
    return [condition, Number(value)];
  });
  return Object.fromEntries(conditions);
}

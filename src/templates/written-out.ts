// A subject with its messages put in, for those who choose a template by reading it: people and
// agents see "Your order {{ order_number }} was cancelled", not t('subject', …). Before it:
// offering.ts. After it: nothing renders this.
import { formsOf, type Messages, piecesOf } from './messages.ts';

const CALL = String.raw`t\('(\w+)'((?:, \w+=[^,()]+)*)\)`;
const PRINTED = new RegExp(String.raw`\{\{ ${CALL}(?: if ([\w.]+) else ${CALL})? \}\}`, 'g');

/** What it cannot read stays as it is. */
export const writtenOut = (source: string, messages: Messages | undefined): string =>
  source.replace(PRINTED, (whole, key, values, condition, otherKey, otherValues) => {
    const first = messageFor(messages, key, values);
    if (first === undefined || condition === undefined) return first ?? whole;
    const other = messageFor(messages, otherKey, otherValues);
    return other === undefined
      ? whole
      : `{% if ${condition} %}${first}{% else %}${other}{% endif %}`;
  });

function messageFor(messages: Messages | undefined, key: string, values: string) {
  const message = messages?.[key];
  if (message === undefined) return undefined;
  const given = new Map(
    [...values.matchAll(/, (\w+)=([^,()]+)/g)].map(([, name, of]) => [name, of]),
  );
  return piecesOf(formsOf(message).at(-1)!)
    .map((piece, index) => (index % 2 === 0 ? piece : `{{ ${given.get(piece) ?? piece} }}`))
    .join('');
}

// A template as it would be without languages: every t('key', name=…) in it is replaced by its
// message.
import type { Message } from '../../src/templates/messages.ts';

/** In text nothing is escaped; `escape` says how words stand in HTML. */
export interface Words {
  messageOf: (key: string) => Message;
  escape: (text: string) => string;
}

/**
 * Words are written as text where they stand alone, and as a string where an expression needs them.
 */
export function withWordsWrittenIn(source: string, words: Words): string {
  return source
    .replace(/\{\{ (t\((?:[^()]|\([^()]*\))*\)) \}\}/g, (_, call) => asText(call, words))
    .replace(/\bt\('\w+'(?:[^()]|\([^()]*\))*\)/g, (call) => asExpression(call, words));
}

const asText = (call: string, words: Words): string =>
  pieces(call, words)
    .map((piece, index) => (index % 2 === 0 ? words.escape(piece) : `{{ ${piece} }}`))
    .join('');

const asExpression = (call: string, words: Words): string => {
  const parts = pieces(call, words)
    .map((piece, index) => (index % 2 === 0 ? `'${piece.replaceAll("'", "\\'")}'` : piece))
    .filter((part) => part !== "''");
  return parts.length === 1 ? parts[0]! : `(${parts.join(' ~ ')})`;
};

/** Words, and what fills them, in turns. */
function pieces(call: string, { messageOf }: Words): string[] {
  const [, key, rest] = /^t\('(\w+)'(.*)\)$/s.exec(call)!;
  const message = messageOf(key!);
  if (typeof message !== 'string') throw new Error(`"${key}" has plural forms`);
  const given = new Map(
    [...rest!.matchAll(/, (\w+)=((?:[^(),]|\([^()]*\))+)/g)].map(([, name, value]) => [
      name,
      value,
    ]),
  );
  return message
    .split(/\{(\w+)\}/)
    .map((part, index) => (index % 2 === 0 ? part : given.get(part)!));
}

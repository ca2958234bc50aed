// Replaces @codemirror/lang-javascript, which comes with lang-html (vite.config.ts): no email
// program runs scripts, and its grammar is 40 KB.
import { LanguageSupport, StreamLanguage } from '@codemirror/language';

const plain = StreamLanguage.define({
  token(stream) {
    stream.skipToEnd();
    return null;
  },
});
const language = Object.assign(plain, {
  parser: Object.assign(plain.parser, { configure: () => plain.parser }),
});

export {
  language as javascriptLanguage,
  language as jsxLanguage,
  language as tsxLanguage,
  language as typescriptLanguage,
};
export const javascript = (): LanguageSupport => new LanguageSupport(plain);

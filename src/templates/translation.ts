// t('key', name=…): a message in the language of an email, filled in. Before it: messages and a
// language. After it: templates, macros and the layout call it. Messages are text. In HTML they are
// escaped, and so are the values that fill them, unless a value is markup that the template made:
// t('by', who=ui.strong(name)). A translator decides where it goes, never what it is.
import {
  Callable,
  type Context,
  escapeText,
  escapeValue,
  type Kwargs,
  Markup,
  str,
  TemplateRuntimeError,
  type Value,
} from '../jinja/index.ts';
import { numberFormat, pluralRules } from './intl.ts';
import { directionOf, fallbacks, LAST_RESORT, languageOf } from './locales.ts';
import { type Message, type Messages, type MessagesByLocale, piecesOf } from './messages.ts';

/** What a render knows about its language. */
export interface Language {
  /** The language of its texts. */
  locale: string;
  direction: 'ltr' | 'rtl';
  /** The language of its dates and numbers: de-AT, even if the texts are de. */
  format: string;
  t: Translation;
}

/** Text and names in turn, and the same escaped. */
interface Pieces {
  text: string[];
  html: string[];
  /** The text, if it has no placeholders and is the same every time. */
  whole: Markup | null;
}

type Compiled = Pieces | { rules: Intl.PluralRules; forms: ReadonlyMap<string, Pieces> };

/** The messages of one language, each parsed when it is first used. */
export class Translator {
  readonly locale: string;
  private readonly sources: readonly { locale: string; messages: Messages }[];
  private readonly known = new Map<string, Compiled | null>();

  constructor(locale: string, sources: readonly { locale: string; messages: Messages }[]) {
    this.locale = locale;
    this.sources = sources;
  }

  find(key: string): Compiled | null {
    let found = this.known.get(key);
    if (found !== undefined) return found;
    const source = this.sources.find(({ messages }) => Object.hasOwn(messages, key));
    found = source === undefined ? null : compile(source.messages[key]!, source.locale);
    if (found !== null) this.known.set(key, found);
    return found;
  }
}

function compile(message: Message, locale: string): Compiled {
  if (typeof message === 'string') return compileText(message);
  const forms = Object.entries(message).filter((it): it is [string, string] => it[1] !== undefined);
  return {
    rules: pluralRules(locale),
    forms: new Map(forms.map(([form, text]) => [form, compileText(text)])),
  };
}

function compileText(message: string): Pieces {
  const text = piecesOf(message);
  const html = text.map((piece, index) => (index % 2 === 0 ? escapeText(piece) : piece));
  return { text, html, whole: text.length === 1 ? new Markup(html[0]!) : null };
}

class Translation extends Callable {
  private readonly translator: Translator;
  private readonly format: string;
  /** Names and numbers in another script keep their own order in right-to-left text. */
  private readonly isolates: boolean;
  /** Japanese puts a space beside Latin words, and none between its own: "15分です". */
  private readonly closesUp: boolean;
  private readonly elides: boolean;
  readonly typeName = 'function';

  constructor(translator: Translator, format: string) {
    super();
    this.translator = translator;
    this.format = format;
    this.isolates = directionOf(format) === 'rtl';
    this.closesUp = languageOf(format) === 'ja';
    this.elides = languageOf(format) === 'it';
  }

  override call(ctx: Context, args: Value[], kwargs: Kwargs | null): Value {
    const [key] = args;
    if (args.length !== 1 || typeof key !== 'string') {
      throw fault("t() takes the key of a message, then values by name: t('hello', name=name)");
    }
    const found = this.translator.find(key);
    if (found === null) throw fault(`there is no message "${key.slice(0, 64)}"`);
    return this.fill(ctx, key, 'forms' in found ? formFor(found, key, kwargs) : found, kwargs);
  }

  private fill(ctx: Context, key: string, pieces: Pieces, kwargs: Kwargs | null): Value {
    const { budget, evalCtx } = ctx;
    const { autoescape } = evalCtx;
    if (pieces.whole !== null) return autoescape ? pieces.whole : pieces.text[0];
    const parts = autoescape ? pieces.html : pieces.text;
    let out = parts[0]!;
    for (let at = 1; at < parts.length; at += 2) {
      const name = parts[at]!;
      const value = kwargs?.get(name);
      if (value === undefined) throw fault(`message "${key}" needs a value for {${name}}`);
      const shown = name === 'count' && typeof value === 'number' ? this.count(value) : value;
      const text = autoescape ? escapeValue(budget, shown) : plain(ctx, shown);
      if (this.elides && SPOKEN_WITH_VOWEL.test(text)) out = elided(out);
      if (this.closesUp && WIDE_THEN_SPACE.test(out.slice(-2)) && beginsWide(text))
        out = out.slice(0, -1);
      out += this.isolates ? `\u2068${text}\u2069` : text;
      const rest = parts[at + 1]!;
      const ends = rest === '.' ? at + 2 === parts.length : /^\.\s/.test(rest);
      const closes = this.closesUp && SPACE_THEN_WIDE.test(rest) && endsWide(text);
      out += closes || (ends && endsWithStop(text)) ? rest.slice(1) : rest;
      budget.text(out.length);
    }
    return autoescape ? new Markup(out) : out;
  }

  private count(value: number): string {
    return numberFormat(this.format, {}).format(value);
  }
}

/** A value with a full stop of its own ("390 kr."), perhaps in tags, ends the sentence too. */
const endsWithStop = (value: string): boolean => /\.(?:<\/\w+>)*$/.test(value.slice(-LONGEST_END));
const LONGEST_END = 40;

/** "il 7 aprile", but "l’8 aprile" and "dall’11": numbers that Italians begin with a vowel. */
const SPOKEN_WITH_VOWEL = /^(?:<[^<>]{0,200}>){0,3}(?:8|11(?!\d))/;
const ARTICLE_AT_END = /(?<=^|[\s(])(il|al|dal|del|nel) $/i;
const LONGEST_ARTICLE = 5;
const elided = (text: string): string =>
  text.slice(0, -LONGEST_ARTICLE) +
  text
    .slice(-LONGEST_ARTICLE)
    .replace(ARTICLE_AT_END, (_, article: string) =>
      article === 'Il' ? 'L’' : article === 'il' ? 'l’' : `${article}l’`,
    );

/** Kana, kanji and what is as wide as they are; a value may have tags around it. */
const WIDE = '[\\u3000-\\u9fff\\uff00-\\uffef]';
const BEGINS_WIDE = new RegExp(`^(?:<[^<>]*>)*[\\d.,]*${WIDE}`);
const ENDS_WIDE = new RegExp(`${WIDE}(?:</\\w+>)*$`);
const WIDE_THEN_SPACE = new RegExp(`${WIDE} $`);
const SPACE_THEN_WIDE = new RegExp(`^ ${WIDE}`);
const beginsWide = (value: string): boolean => BEGINS_WIDE.test(value.slice(0, LONGEST_BEGINNING));
const endsWide = (value: string): boolean => ENDS_WIDE.test(value.slice(-LONGEST_END));
const LONGEST_BEGINNING = 300;

const plain = (ctx: Context, value: Value): string =>
  value instanceof Markup ? value.text : str(ctx.budget, value);

function formFor(
  { rules, forms }: { rules: Intl.PluralRules; forms: ReadonlyMap<string, Pieces> },
  key: string,
  kwargs: Kwargs | null,
): Pieces {
  const count = Number(kwargs?.get('count') ?? Number.NaN);
  if (Number.isNaN(count)) throw fault(`message "${key}" has plural forms and needs a count`);
  return forms.get(rules.select(count)) ?? forms.get('other')!;
}

const fault = (message: string): TemplateRuntimeError =>
  new TemplateRuntimeError(message, 'TemplateRuntimeError');

/** Senders may ask for any region: an unknown one is remembered as long as there are few. */
const MOST_REMEMBERED = 200;

interface Asked {
  wanted: string | undefined;
  standard: string | undefined;
}

/**
 * The texts of one template: its own, then those of the templates it extends, then the common ones.
 */
export class Texts {
  /**
   * The languages of its own messages. Null: it has none; its text is in the account's language.
   */
  readonly locales: ReadonlySet<string> | null;
  private readonly layers: readonly MessagesByLocale[];
  private readonly translators = new Map<string, Translator>();
  /** By what was asked for, so that it is not recomputed for each email. */
  private readonly languages = new Map<string, Language>();

  constructor(own: MessagesByLocale | null, below: readonly MessagesByLocale[]) {
    this.layers = own === null ? below : [own, ...below];
    this.locales = own && new Set(Object.keys(own));
  }

  /**
   * The language of an email: the first of the wanted ones that the texts have. A key that it lacks
   * is looked up in the next ones.
   */
  language({ wanted, standard }: Asked): Language {
    const name = `${wanted} ${standard}`;
    const known = this.languages.get(name);
    if (known !== undefined) return known;
    const locale =
      this.locales === null
        ? (standard ?? LAST_RESORT)
        : (fallbacks([wanted, standard]).find((it) => this.locales!.has(it)) ??
          [...this.locales][0]!);
    const asked = wanted ?? standard;
    const format = asked && languageOf(asked) === languageOf(locale) ? asked : locale;
    const translator = this.translator(locale, fallbacks([locale, standard]));
    const t = new Translation(translator, format);
    const found = { locale, direction: directionOf(locale), format, t };
    if (this.languages.size < MOST_REMEMBERED) this.languages.set(name, found);
    return found;
  }

  private translator(locale: string, order: readonly string[]): Translator {
    const name = order.join();
    let found = this.translators.get(name);
    if (found === undefined) {
      found = new Translator(
        locale,
        order.flatMap((it) =>
          this.layers.flatMap((layer) =>
            Object.hasOwn(layer, it) ? [{ locale: it, messages: layer[it]! }] : [],
          ),
        ),
      );
      if (this.translators.size < MOST_REMEMBERED) this.translators.set(name, found);
    }
    return found;
  }
}

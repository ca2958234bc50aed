// The filters that make HTML and URLs: urlize, urlencode, xmlattr, tojson, pprint.
import type { Budget } from '../budget.ts';
import {
  attributeError,
  filterArgumentError,
  TemplateRuntimeError,
  typeError,
  valueError,
} from '../errors.ts';
import { native } from '../methods/signature.ts';
import type { Context, Native } from '../running.ts';
import { slice } from '../values/access.ts';
import { joined } from '../values/building.ts';
import { compareText, ordered } from '../values/compare.ts';
import { DictView, isDict, pairsOf } from '../values/dict.ts';
import { isIterable, iterator, toList, truthy } from '../values/iterate.ts';
import { escapeText, escapeValue, quote, str } from '../values/repr.ts';
import { splitWords, textLength } from '../values/text.ts';
import { Markup, typeName, type Value } from '../values/types.ts';
import { Undefined } from '../values/undefined.ts';
import { tojson } from './json.ts';
import { pformat } from './pprint.ts';
import { urlize } from './urlize.ts';

/** quote_from_bytes: letters, digits and _.-~ stay, and "/" unless for a query. */
function urlQuote(ctx: Context, value: Value, forQuery: boolean): string {
  const text = str(ctx.budget, value);
  ctx.budget.text(text.length * 3);
  let quoted: string;
  try {
    quoted = encodeURIComponent(text);
  } catch {
    throw new TemplateRuntimeError(
      "'utf-8' codec can't encode character: surrogates not allowed",
      'UnicodeEncodeError',
    );
  }
  quoted = quoted.replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return forQuery ? quoted.replaceAll('%20', '+') : quoted.replaceAll('%2F', '/');
}

function urlencode(ctx: Context, value: Value): string {
  if (typeof value === 'string' || value instanceof Markup || !isIterable(value))
    return urlQuote(ctx, value, false);
  const { budget } = ctx;
  const source = iterator(budget, isDict(value) ? new DictView('items', value) : value);
  const parts: string[] = [];
  for (let pair = source.next(); pair !== undefined; pair = source.next()) {
    budget.step(4);
    if (!isIterable(pair)) throw typeError(`cannot unpack non-iterable ${typeName(pair)} object`);
    const items = toList(budget, pair);
    if (items.length < 2)
      throw valueError(`not enough values to unpack (expected 2, got ${items.length})`);
    if (items.length > 2) throw valueError('too many values to unpack (expected 2)');
    parts.push(`${urlQuote(ctx, items[0], true)}=${urlQuote(ctx, items[1], true)}`);
  }
  return joined(budget, parts, '&');
}

function xmlattr(ctx: Context, value: Value, autospace: Value = true): Value {
  const parts: string[] = [];
  for (const [key, item] of pairsOf(ctx.budget, value)) {
    ctx.budget.step(4);
    if (item === null || item instanceof Undefined) continue;
    const name = typeof key === 'string' ? key : key instanceof Markup ? key.text : null;
    if (name === null)
      throw typeError(`expected string or bytes-like object, got '${typeName(key)}'`);
    if (/[ \t\n\r\f\v/>=]/.test(name))
      throw valueError(`Invalid character in attribute name: ${quote(name)}`);
    parts.push(`${escapeValue(ctx.budget, key)}="${escapeValue(ctx.budget, item)}"`);
  }
  const list = joined(ctx.budget, parts, ' ');
  const text = truthy(autospace) && list !== '' ? ` ${list}` : list;
  return ctx.evalCtx.autoescape ? new Markup(text) : text;
}

function paidText(budget: Budget, text: string): string {
  budget.text(text.length);
  budget.step(text.length >> 1);
  return text;
}

function urlizeFilter(
  ctx: Context,
  value: Value,
  trimUrlLimit?: Value,
  nofollow: Value = false,
  target?: Value,
  rel?: Value,
  extraSchemes?: Value,
): Value {
  const { budget } = ctx;
  const given = (value: Value): boolean => value !== undefined && truthy(value);
  if (given(rel) && typeof rel !== 'string' && !(rel instanceof Markup))
    throw attributeError(`'${typeName(rel)}' object has no attribute 'split'`);
  const parts = new Set([
    ...splitWords(given(rel) ? paidText(budget, String(rel)) : ''),
    ...(truthy(nofollow) ? ['nofollow'] : []),
    'noopener',
  ]);
  const schemes =
    extraSchemes === undefined || extraSchemes === null
      ? []
      : toList(budget, extraSchemes).map((scheme) => {
          if (typeof scheme === 'string' || scheme instanceof Markup) return String(scheme);
          throw typeError(`expected string or bytes-like object, got '${typeName(scheme)}'`);
        });
  for (const scheme of schemes) {
    budget.scan(scheme.length);
    if (!/^[\p{L}\p{N}_.+-]{2,}:\/{0,2}$/u.test(scheme))
      throw filterArgumentError(`${quote(scheme)} is not a valid URI scheme prefix.`);
  }
  const html = urlize(budget, escapeValue(budget, value), {
    shorten: (url) =>
      trimUrlLimit === undefined ||
      trimUrlLimit === null ||
      !ordered(budget, '>', textLength(url), trimUrlLimit)
        ? url
        : `${slice(ctx, url, null, trimUrlLimit, null)}...`,
    rel: escapeText([...parts].sort(compareText).join(' ')),
    target: given(target) ? escapeValue(budget, target) : '',
    extraSchemes: schemes,
  });
  return ctx.evalCtx.autoescape ? new Markup(html) : html;
}

export const htmlFilters: Record<string, Native> = {
  pprint: native('', pformat),
  tojson: native('? indent', tojson),
  urlencode: native('', urlencode),
  urlize: native('? trim_url_limit nofollow target rel extra_schemes', urlizeFilter),
  xmlattr: native('? autospace', xmlattr),
};

// The lipsum() global: paragraphs of placeholder text, made as Jinja2 makes them. Random, so no two
// calls agree.

import { valueError } from './errors.ts';
import type { Context } from './running.ts';
import { truthy } from './values/iterate.ts';
import { toIndex } from './values/numbers.ts';
import { Markup, type Value } from './values/types.ts';

const WORDS = (
  'a ac accumsan ad adipiscing aenean aliquam aliquet amet ante aptent arcu at auctor augue bibendum blandit ' +
  'class commodo condimentum congue consectetuer consequat conubia convallis cras cubilia cum curabitur curae ' +
  'cursus dapibus diam dictum dictumst dignissim dis dolor donec dui duis egestas eget eleifend elementum elit ' +
  'enim erat eros est et etiam eu euismod facilisi facilisis fames faucibus felis fermentum feugiat fringilla ' +
  'fusce gravida habitant habitasse hac hendrerit hymenaeos iaculis id imperdiet in inceptos integer interdum ' +
  'ipsum justo lacinia lacus laoreet lectus leo libero ligula litora lobortis lorem luctus maecenas magna magnis ' +
  'malesuada massa mattis mauris metus mi molestie mollis montes morbi mus nam nascetur natoque nec neque netus ' +
  'nibh nisi nisl non nonummy nostra nulla nullam nunc odio orci ornare parturient pede pellentesque penatibus ' +
  'per pharetra phasellus placerat platea porta porttitor posuere potenti praesent pretium primis proin pulvinar ' +
  'purus quam quis quisque rhoncus ridiculus risus rutrum sagittis sapien scelerisque sed sem semper senectus sit ' +
  'sociis sociosqu sodales sollicitudin suscipit suspendisse taciti tellus tempor tempus tincidunt torquent ' +
  'tortor tristique turpis ullamcorper ultrices ultricies urna ut varius vehicula vel velit venenatis vestibulum ' +
  'vitae vivamus viverra volutpat vulputate'
).split(' ');

/** A whole number from `low` up to but not including `high`. */
const pick = (low: number, high: number): number => low + Math.floor(Math.random() * (high - low));

export function lipsum(
  ctx: Context,
  count: Value = 5,
  html: Value = true,
  min: Value = 20,
  max: Value = 100,
): Value {
  const [low, high] = [toIndex(min), toIndex(max)];
  const paragraphs: string[] = [];
  for (let i = toIndex(count); i > 0; i--) {
    if (high <= low)
      throw valueError(`empty range for randrange() (${low}, ${high}, ${high - low})`);
    paragraphs.push(paragraph(ctx, pick(low, high)));
    ctx.budget.list(paragraphs.length);
  }
  if (!truthy(html)) return paragraphs.join('\n\n');
  return new Markup(paragraphs.map((text) => `<p>${text}</p>`).join('\n'));
}

function paragraph(ctx: Context, size: number): string {
  const words: string[] = [];
  let capital = true;
  let comma = 0;
  let stop = 0;
  let last = '';
  ctx.budget.text(Math.max(0, size) * 8);
  for (let i = 0; i < size; i++) {
    let word: string;
    do word = WORDS[pick(0, WORDS.length)]!;
    while (word === last);
    last = word;
    if (capital) word = word[0]!.toUpperCase() + word.slice(1);
    capital = false;
    if (i - pick(3, 8) > comma) {
      comma = i;
      stop += 2;
      word += ',';
    }
    if (i - pick(10, 20) > stop) {
      comma = stop = i;
      word += '.';
      capital = true;
    }
    words.push(word);
  }
  const text = words.join(' ');
  if (text.endsWith(',')) return `${text.slice(0, -1)}.`;
  return text.endsWith('.') ? text : `${text}.`;
}

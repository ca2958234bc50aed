// Attacks with very many of something: names, blocks, parameters, keys, characters. What is looked
// at or copied again and again must be paid for, while compiling too. Part of attacks.ts.
import type { Attack } from './attacks.ts';

const many = (count: number, make: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => make(i)).join('');
const often = (body: string): string => `{% for i in range(100000) %}${body}{% endfor %}`;
const names = many(2_000, (i) => `{% set a${i}=1 %}`);
const blocks = many(1_900, (i) => `{% block a${i} %}{% endblock %}`);
const params = Array.from({ length: 5_000 }, (_, i) => `a${i}`).join(',');
/** As many fields as a body may have: http/json-bytes.ts counts names and values. */
const largeObject = (): Record<string, number> =>
  Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`k${i}`, i]));
const limited = { error: /^LimitExceeded/ };

export const attacksByNumber: Attack[] = [
  {
    name: 'scoped block beside many blocks',
    template: `${blocks}${often('{% block z scoped %}{% endblock %}')}`,
  },
  {
    name: 'many scoped blocks',
    template: many(1_700, (i) => `{% block a${i} scoped %}{% endblock %}`),
  },
  {
    name: 'include under many names',
    template: `${names}${often('{% include "x" %}')}`,
    templates: { x: 'a' },
  },
  {
    name: 'import under many names',
    template: `${names}${often('{% import "x" as q with context %}')}`,
    templates: { x: 'a' },
    expect: limited,
  },
  {
    name: 'import of many names',
    template: often('{% from "x" import a0 with context %}'),
    templates: { x: names },
    expect: limited,
  },
  {
    name: 'many includes under many names',
    template: `${many(1_400, (i) => `{% set a${i}=1 %}`)}${'{% include "x" %}'.repeat(1_400)}`,
    templates: { x: '' },
  },
  {
    name: 'many includes under many names, each in an if',
    template: `${many(1_200, (i) => `{% set a${i}=1 %}`)}${'{% if a0 %}{% include "x" %}{% endif %}'.repeat(600)}`,
    templates: { x: '' },
  },
  {
    name: 'include of many blocks',
    template: often('{% include "x" %}'),
    templates: { x: '{% extends "y" %}', y: blocks },
    expect: limited,
  },
  {
    name: 'macro of many parameters',
    template: `{% macro m(${params}) %}{% endmacro %}${often('{{ m() }}')}`,
    expect: limited,
  },
  {
    name: 'many names under many ifs',
    template: many(1_100, (i) => `{% if a %}{% set v${i}=1 %}{% endif %}`),
    expect: limited,
  },
  {
    name: 'key of tuples of tuples',
    template:
      '{% set ns = namespace(t=(1,)) %}{% for i in range(60) %}{% set ns.t = (ns.t, ns.t) %}{% endfor %}{{ {ns.t: 1}|length }}',
    expect: limited,
  },
  {
    name: 'whether a large object has keys',
    template: often('{% if d %}{% endif %}'),
    data: () => ({ d: largeObject() }),
  },
  {
    name: 'items of a large object',
    template: often('{% for k, v in d.items() %}{{ v }}{% endfor %}'),
    data: () => ({ d: largeObject() }),
    expect: limited,
  },
  {
    name: 'numbers in long text',
    template: often('{{ s|int }}{{ s|float }}'),
    data: () => ({ s: `${' '.repeat(5_000_000)}1` }),
    expect: limited,
  },
  {
    name: 'text that grows when escaped',
    template: '{{ s }}',
    data: () => ({ s: '<'.repeat(3_000_000) }),
    expect: limited,
  },
];

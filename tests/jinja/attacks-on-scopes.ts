// Attacks with very many names, blocks or parameters: what is copied once per include, block or call must be paid for,
// and what is made while compiling too. Part of attacks.ts.
import type { Attack } from './attacks.ts';

const many = (count: number, make: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => make(i)).join('');
const often = (body: string): string => `{% for i in range(100000) %}${body}{% endfor %}`;
const names = many(2_800, (i) => `{% set a${i}=1 %}`);
const blocks = many(2_400, (i) => `{% block a${i} %}{% endblock %}`);
const params = Array.from({ length: 5_000 }, (_, i) => `a${i}`).join(',');
const limited = { error: /^LimitExceeded/ };

export const attacksOnScopes: Attack[] = [
  {
    name: 'scoped block beside many blocks',
    template: `${blocks}${often('{% block z scoped %}{% endblock %}')}`,
  },
  {
    name: 'many scoped blocks',
    template: many(2_200, (i) => `{% block a${i} scoped %}{% endblock %}`),
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
    template: `${many(1_900, (i) => `{% set a${i}=1 %}`)}${'{% include "x" %}'.repeat(1_900)}`,
    templates: { x: '' },
  },
  {
    name: 'many includes under many names, each in an if',
    template: `${many(1_200, (i) => `{% set a${i}=1 %}`)}${'{% if a0 %}{% include "x" %}{% endif %}'.repeat(800)}`,
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
    template: many(1_300, (i) => `{% if a %}{% set v${i}=1 %}{% endif %}`),
    expect: limited,
  },
];

// `sandmartin jinja` as people try templates with it.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCommand } from '../support/process.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sandmartin-jinja-'));
  writeFileSync(join(folder, 'base.html'), '<b>{% block main %}{% endblock %}</b>');
  writeFileSync(
    join(folder, 'hello.html'),
    '{% extends "base.html" %}{% block main %}Hello {{ name }}!{% endblock %}',
  );
  writeFileSync(join(folder, 'broken.html'), 'one\n{{ 1 + }}');
  writeFileSync(join(folder, 'vars.json'), '{"name": "Ada"}');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const jinja = (...args: string[]) => runCommand(['jinja', ...args], {});

it('renders a file with its data, and what it extends from beside it', async () => {
  const file = join(folder, 'hello.html');
  const data = join(folder, 'vars.json');
  expect(await jinja(file, '--data', data)).toMatchObject({ code: 0, stdout: '<b>Hello Ada!</b>' });
  const { stdout } = await jinja(file, '--data', data, '--json');
  expect(JSON.parse(stdout)).toEqual({ output: '<b>Hello Ada!</b>' });
});

it('says where a template is wrong', async () => {
  const file = join(folder, 'broken.html');
  const shown = await jinja(file);
  expect(shown.code).toBe(1);
  expect(shown.stderr).toMatch(/broken\.html.*2/);
  expect(shown.stderr).toContain('^');
  const { code, stdout } = await jinja(file, '--json');
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toEqual({ error: shown.stderr.trimEnd() });
});

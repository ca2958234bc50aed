// What a template names and is not there is refused when it is saved, with its line and what may
// have been meant: by every door.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Problem } from '../../src/errors.ts';
import { createEmailMaker } from '../../src/templates/email-maker.ts';
import { openSignedIn } from '../dashboard/dashboard-client.ts';
import { callTool } from '../mcp/support.ts';
import { catalog } from '../support/catalog.ts';
import {
  request,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';
import { page } from './support.ts';

const maker = createEmailMaker(catalog);

function fault(html: string, slug = 'mine'): Problem | undefined {
  try {
    maker.check({ slug, source: { subject: 'x', preheader: '', html, text: null } });
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  return undefined;
}

const onLayout = (inside: string): string =>
  `{% extends "layout.html" %}\n{% import "macros.html" as ui with context %}\n${inside}`;

describe('refused', () => {
  const cases: [what: string, html: string, line: number, told: RegExp][] = [
    ['a parent', '{% extends "layuot.html" %}', 1, /no template "layuot.html".*mean layout.html\?/],
    ['a parent like no other', 'a\n{% extends "q" %}', 2, /no template "q".*only layout.html/],
    ['itself', '{% extends "mine" %}', 1, /no template "mine"/],
    ['one of two parents', '{% extends "layout.html" if a else "no" %}', 1, /no template "no"/],
    ['an include', '\n\n{% include "wellcome" %}', 3, /no template "wellcome".*mean welcome/],
    ['all of a list', '{% include ["a1", "b1"] %}', 1, /no template "a1"/],
    ['an import', '{% import "macro.html" as ui %}', 1, /no template "macro.html".*macros.html/],
    ['a from-import', '{% from "macro.html" import button %}', 1, /no template "macro.html"/],
    [
      'one within a block',
      onLayout('{% block content %}{% include "no" %}{% endblock %}'),
      3,
      /"no"/,
    ],
    [
      'a block',
      onLayout('{% block contents %}x{% endblock %}'),
      3,
      /no block "contents" in what it extends. Did you mean content\?/,
    ],
    [
      'a block like no other',
      onLayout('{% block zz %}x{% endblock %}'),
      3,
      /no block "zz".*Use one of header, /,
    ],
    [
      'a block under an if',
      onLayout('{% if a %}{% block zz %}x{% endblock %}{% endif %}'),
      3,
      /no block "zz"/,
    ],
    [
      'a block of a system template',
      '{% extends "welcome" %}{% block helpp %}{% endblock %}',
      1,
      /Did you mean help\?/,
    ],
    [
      'what has no blocks',
      '{% extends "macros.html" %}{% block content %}{% endblock %}',
      1,
      /no block "content" in what it extends\./,
    ],
    [
      'self',
      '{% block a %}{% endblock %}{{ self.ab() }}',
      1,
      /no block "ab". Did you mean a\?|no block "ab"/,
    ],
    ['super without a parent', '{% block a %}{{ super() }}{% endblock %}', 1, /no block "a"/],
    [
      'a macro',
      onLayout('{% block content %}\n{{ ui.buton("a", "b") }}{% endblock %}'),
      4,
      /no macro "buton". Did you mean button\?/,
    ],
    [
      'a macro that is called',
      onLayout('{% block content %}{% call ui.paragraf() %}{% endcall %}{% endblock %}'),
      3,
      /no macro "paragraf"/,
    ],
    ['a macro by name', '{% from "macros.html" import buton %}', 1, /Did you mean button\?/],
    [
      'a macro of its own',
      '{% macro card() %}x{% endmacro %}\n{{ crad() }}',
      2,
      /Did you mean card\?/,
    ],
    [
      'a macro as an argument',
      onLayout('{% block content %}{{ ui.p(ui.storng("a")) }}{% endblock %}'),
      3,
      /mean strong\?/,
    ],
  ];
  it.each(cases)('%s', (_what, html, line, told) => {
    const problem = fault(html);
    expect(problem?.detail).toMatch(told);
    expect(problem?.detail).toMatch(new RegExp(`^Template "mine", line ${line}, column \\d+: `));
    expect(problem?.faults).toMatchObject([{ path: 'html', line, column: expect.any(Number) }]);
    expect(problem?.faults[0]?.message).toMatch(told);
  });

  it('in subject, preheader and text alike', () => {
    const source = { subject: 'x', preheader: '', html: 'x', text: null };
    for (const part of ['subject', 'preheader', 'text'] as const) {
      const bad = { ...source, [part]: 'a\n{% include "wellcome" %}' };
      expect(() => maker.check({ slug: 'mine', source: bad })).toThrow(
        new RegExp(`^Template "mine", ${part}, line 2, column 4: there is no template "wellcome"`),
      );
    }
  });

  it('within the time of a test, however often something is named', () => {
    const many = '{% from "macros.html" import button %}{{ button("a", "b") }}'.repeat(700);
    expect(fault(`${many}{{ nope() }}`)?.detail).toMatch(/no macro "nope"/);
  });
});

describe('not refused', () => {
  it.each([
    ['no parent', '{% block anything %}x{% endblock %}{{ self.anything() }}'],
    [
      'a block inside a block',
      onLayout('{% block content %}{% block mine %}{% endblock %}{% endblock %}'),
    ],
    ['super of a parent', onLayout('{% block footer %}{{ super() }}{% endblock %}')],
    ['self of a parent', onLayout('{% block footer %}{{ self.header() }}{% endblock %}')],
    ['a parent known while rendering', '{% extends base %}{% block zz %}{% endblock %}'],
    [
      'a parent under an if',
      '{% if a %}{% extends "layout.html" %}{% endif %}{% block zz %}{% endblock %}',
    ],
    [
      'missing ones that are ignored',
      '{% include "no" ignore missing %}{% include ["n"] ignore missing %}',
    ],
    ['the first of a list', '{% include ["no", "welcome"] %}'],
    [
      'a name that means something else too',
      '{% import "macros.html" as ui %}{% set ui = {} %}{{ ui.x() }}',
    ],
    ['methods of values', '{{ name.upper() }}{{ items.append(1) }}{{ "a".join([]) }}'],
    [
      'what the engine gives',
      '{% for a in range(3) recursive %}{{ loop(a) }}{% endfor %}{{ dict() }}{{ t("x") }}',
    ],
    [
      'caller and arguments',
      '{% macro m() %}{{ caller() }}{{ varargs }}{% endmacro %}{% call m() %}{% endcall %}',
    ],
    ['macros of a parent', onLayout('{% block content %}{{ logo("a") }}{% endblock %}')],
    ['macros of its own, used before', '{{ late() }}{% macro late() %}{% endmacro %}'],
    ['a macro given as a value', '{% macro m(f) %}{{ f() }}{% endmacro %}'],
    ['comments and raw text', '{# {% extends "no" %} #}{% raw %}{{ ui.no() }}{% endraw %}'],
    ['the page of other tests', page('Hi')],
  ])('%s', (_what, html) => {
    expect(fault(html)?.detail).toBeUndefined();
  });

  it('any template of the catalogue', () => {
    for (const { slug, subject, preheader, html } of catalog.templates.values()) {
      const source = { subject, preheader, html, text: null };
      expect(() => maker.check({ slug, source })).not.toThrow();
    }
  });
});

describe('by every door', () => {
  let service: TestService;
  let account: TestAccount;
  beforeAll(async () => {
    service = await startTestService();
    account = await service.account({ scopes: ['admin'] });
  });
  afterAll(() => service.stop());

  const detail = /^Template "own", line 2, column 4: there is no block "contents"/;
  const draft = {
    subject: 'x',
    html: '{% extends "layout.html" %}\n{% block contents %}x{% endblock %}',
  };

  it('REST, MCP and the pages say the same, and nothing is saved', async () => {
    const rest = await request(`${service.url}/v1/templates/own`, {
      method: 'PUT',
      headers: { 'x-api-key': account.key, 'content-type': 'application/json' },
      body: JSON.stringify(draft),
    });
    expect([rest.status, rest.body.detail]).toEqual([400, expect.stringMatching(detail)]);
    const told = await callTool(service, account.key, 'update_template', { slug: 'own', ...draft });
    expect([told.content.status, told.content.detail]).toEqual([400, rest.body.detail]);
    const person = await openSignedIn(service, { accountId: account.id });
    await expect(person.api.templates.put({ slug: 'own', ...draft })).rejects.toMatchObject({
      status: 400,
      message: expect.stringMatching(detail),
    });
    const kept = await service.database.query(
      'SELECT FROM account_templates WHERE account_id = $1',
      [account.id],
    );
    expect(kept).toEqual([]);
  });

  it('a change of the subject alone is not compared with HTML that was saved before', async () => {
    const put = (body: object) =>
      callTool(service, account.key, 'update_template', { slug: 'new', ...body });
    await put({ ...draft, html: page('Hi') });
    await service.database.query(
      `UPDATE account_template_versions SET html = $2 WHERE account_id = $1 AND slug = 'new'`,
      [account.id, draft.html],
    );
    expect((await put({ subject: 'y', base_version: 1 })).content).toMatchObject({ version: 2 });
  });
});

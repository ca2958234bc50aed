// The catalogue through real Jinja2 (Python), where it is installed: the same bytes as from our
// engine for every template, and no template reads a name that its schema does not declare.
import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { brandingContext } from '../../src/templates/branding.ts';
import {
  bareBranding,
  catalogFolder,
  fullBranding,
  layouts,
  render,
  requiredOnly,
  templates,
} from '../support/catalog.ts';

const script = `
import datetime, json, sys, pathlib
from jinja2 import Environment, FunctionLoader, meta, pass_eval_context
from markupsafe import Markup, escape
folder, jobs = json.load(sys.stdin)
root = pathlib.Path(folder)
sources = {name: (root / name).read_text('utf-8') for name in ('layout.html', 'macros.html')}
html = Environment(loader=FunctionLoader(sources.get), autoescape=True)
text = Environment(autoescape=False)
# The samples' dates are written out, and the filters leave them as they are.
for environment in (html, text):
    environment.filters['date'] = lambda value, style='long': \
        datetime.date.fromisoformat(value).strftime('%b') if style == 'short-month' else value
words = json.loads((root / 'messages' / 'en.json').read_text('utf-8'))
def speaker(slug):
    @pass_eval_context
    def t(eval_ctx, key, /, **values):
        message = words.get(slug, {}).get(key) or words['common'][key]
        if isinstance(message, dict):
            message = message['one' if values['count'] == 1 else 'other']
        # Like ours: {name} is filled, and what fills it is escaped by Markup's own format. A value that
        # ends with a full stop ends the sentence.
        said = (Markup(escape(message)) if eval_ctx.autoescape else message).format(**values)
        return said.replace('..', '.')
    return t
line = lambda s: ' '.join(s.split())
out = []
for job in jobs:
    here = root / job['category'] / job['slug']
    about = json.loads((here / 'meta.json').read_text('utf-8'))
    source = (here / 'template.html').read_text('utf-8')
    context = {'t': speaker(job['slug']), 'lang': 'en', **job['variables'], 'branding': job['branding']}
    subject = line(text.from_string(about['subject']).render(context))
    preheader = line(text.from_string(about['preheader']).render(context))
    page = html.from_string(source).render({**context, 'mail': {'subject': subject, 'preheader': preheader}})
    names = set()
    for part in (source, about['subject'], about['preheader']):
        names |= meta.find_undeclared_variables(html.parse(part))
    out.append({'subject': subject, 'html': page, 'names': sorted(names)})
json.dump(out, sys.stdout)
`;

const python = spawnSync('python3', ['-c', 'import jinja2; print(jinja2.__version__)']);
if (python.status !== 0) {
  process.stderr.write(
    '\n*** COMPARISON WITH JINJA2 SKIPPED: python3 with jinja2 is not installed\n\n',
  );
}

describe.skipIf(python.status !== 0)('real Jinja2', () => {
  const cases = templates.flatMap((template) => [
    { template, variables: template.sample, branding: fullBranding },
    { template, variables: requiredOnly(template), branding: bareBranding },
    { template, variables: { ...template.sample, dir: 'rtl' }, branding: layouts[1]! },
    { template, variables: template.sample, branding: layouts[2]! },
  ]);
  const jobs = cases.map(({ template: { slug, category }, variables, branding }) => ({
    slug,
    category,
    variables,
    branding: brandingContext(branding),
  }));
  const answer = spawnSync('python3', ['-c', script], {
    input: JSON.stringify([catalogFolder, jobs]),
    maxBuffer: 1 << 28,
  });
  const theirs: { subject: string; html: string; names: string[] }[] =
    answer.status === 0 ? JSON.parse(answer.stdout.toString()) : [];

  it('renders the whole catalogue', () => {
    expect(answer.stderr.toString()).toBe('');
    expect(theirs).toHaveLength(cases.length);
  });

  it.each(cases.map(({ template }, index) => [template.slug, index] as const))(
    'gives the same email for %s (%i)',
    (_slug, index) => {
      const { template, variables, branding } = cases[index]!;
      const ours = render(template, branding, variables);
      expect(ours.subject).toBe(theirs[index]!.subject);
      expect(ours.html).toBe(theirs[index]!.html);
    },
  );

  it('sees no name that is not declared, and all that are', () => {
    for (const [index, { template }] of cases.entries()) {
      const declared = new Set(template.variables.map(({ name }) => name.split('.')[0]));
      const read = theirs[index]!.names.filter((name) => !['branding', 'ui', 't'].includes(name));
      expect(new Set(read), template.slug).toEqual(declared);
    }
  });
});

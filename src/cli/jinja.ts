// `sandmartin jinja`: renders a template file, or answers JSON lines with --batch. For trying out
// templates and for the tests.
import { readFileSync } from 'node:fs';
import { basename, dirname, resolve, sep } from 'node:path';
import type { Command } from 'commander';
import {
  Dict,
  Environment,
  type EnvironmentOptions,
  parseJson,
  TemplateError,
  type Value,
} from '../jinja/index.ts';

export function registerJinja(program: Command): void {
  program
    .command('jinja')
    .description('render a Jinja2 template file, or many from JSON lines')
    .argument('[file]', 'template to render; templates it includes or extends are found beside it')
    .option('--data <file>', 'JSON file with the variables')
    .option(
      '--batch',
      'read {"templates", "main", "context", "options"} lines, answer one {"output"} or {"error"} line each',
    )
    .option('--json', 'answer with one line {"output"} or {"error"}')
    .action(async (file: string | undefined, options: JinjaOptions) => {
      if (options.batch) return runBatch();
      if (file === undefined) program.error('error: give a template file, or --batch');
      else renderFile(file, options);
    });
}

interface JinjaOptions {
  data?: string;
  batch?: boolean;
  json?: boolean;
}

function renderFile(file: string, { data: dataFile, json }: JinjaOptions): void {
  const folder = resolve(dirname(file));
  const loader = (name: string): string | undefined => {
    const path = resolve(folder, name);
    if (!path.startsWith(folder + sep)) return undefined;
    try {
      return readFileSync(path, 'utf8');
    } catch {
      return undefined;
    }
  };
  try {
    const data = dataFile === undefined ? new Dict() : parseJson(readFileSync(dataFile, 'utf8'));
    if (!(data instanceof Dict)) throw new Error(`${dataFile} must contain a JSON object`);
    const environment = new Environment({ loader, extensions: ['do', 'loopcontrols'] });
    const output = environment.getTemplate(basename(file)).render(data);
    process.stdout.write(json ? `${JSON.stringify({ output })}\n` : output);
  } catch (error) {
    const message =
      error instanceof TemplateError
        ? error.describe()
        : error instanceof Error
          ? error.message
          : String(error);
    if (json) process.stdout.write(`${JSON.stringify({ error: message })}\n`);
    else process.stderr.write(`${message}\n`);
    process.exitCode = 1;
  }
}

async function runBatch(): Promise<void> {
  for await (const line of inputLines()) {
    // Waiting for the pipe keeps memory flat when the reader is slower than we are.
    if (!process.stdout.write(`${answer(line)}\n`))
      await new Promise((done) => process.stdout.once('drain', done));
  }
}

/** Lines end at \n alone: readline would also cut at U+2028, which JSON strings may hold. */
async function* inputLines(): AsyncGenerator<string> {
  let rest = '';
  process.stdin.setEncoding('utf8');
  for await (const chunk of process.stdin as AsyncIterable<string>) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop()!;
    yield* lines;
  }
  if (rest !== '') yield rest;
}

/** The answer to one line; never throws. */
export function answer(line: string): string {
  try {
    const job = parseJson(line);
    if (!(job instanceof Dict)) throw new Error('the line is not a JSON object');
    return JSON.stringify({ output: renderJob(job) });
  } catch (error) {
    if (error instanceof TemplateError)
      return JSON.stringify({ error: `${error.typeName}: ${error.message}` });
    return JSON.stringify({
      error: `Error: ${error instanceof Error ? error.message : String(error)}`,
    });
  }
}

function renderJob(job: Dict): string {
  const templates = job.get('templates');
  if (!(templates instanceof Dict))
    throw new Error('"templates" must be an object of names and sources');
  const main = job.get('main') ?? templates.keys()[0];
  const context = job.get('context') ?? new Dict();
  if (typeof main !== 'string' || !(context instanceof Dict))
    throw new Error('"main" must be a name and "context" an object');
  const loader = (name: string): string | undefined => {
    const source = templates.get(name);
    return typeof source === 'string' ? source : undefined;
  };
  const options = job.get('options');
  return new Environment({
    loader,
    ...environmentOptions(options instanceof Dict ? options : new Dict()),
  })
    .getTemplate(main)
    .render(context);
}

/**
 * The options by the names Python's Environment gives them; "ext" stands for both extensions, and
 * "time_ms" is how long a render may take, so that compared answers do not depend on how busy the
 * machine is.
 */
function environmentOptions(options: Dict): EnvironmentOptions {
  const text = (name: string): Record<string, Value> => {
    const value = options.get(name);
    return typeof value === 'string' ? { [camel(name)]: value } : {};
  };
  const extensions = options.get('extensions');
  const wanted =
    options.get('ext') === true
      ? ['do', 'loopcontrols']
      : Array.isArray(extensions)
        ? extensions.map(extensionName)
        : [];
  const kind =
    String(options.get('undefined') ?? 'default')
      .toLowerCase()
      .replace('undefined', '') || 'default';
  const timeMs = options.get('time_ms');
  return {
    limits: typeof timeMs === 'number' ? { timeMs } : {},
    autoescape: options.get('autoescape') !== false,
    undefined: kind as 'default',
    trimBlocks: options.get('trim_blocks') === true,
    lstripBlocks: options.get('lstrip_blocks') === true,
    keepTrailingNewline: options.get('keep_trailing_newline') === true,
    extensions: wanted as ('do' | 'loopcontrols')[],
    ...text('newline_sequence'),
    ...text('line_statement_prefix'),
    ...text('line_comment_prefix'),
    ...delimiters(options),
  };
}

const camel = (name: string): string =>
  name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
const extensionName = (name: Value): string => String(name).replace(/^jinja2\.ext\./, '');

/** block_start_string and the five others. */
function delimiters(options: Dict): Record<string, string> {
  const out: Record<string, string> = {};
  for (const kind of ['block', 'variable', 'comment'])
    for (const end of ['start', 'end']) {
      const value = options.get(`${kind}_${end}_string`);
      if (typeof value === 'string') out[camel(`${kind}_${end}`)] = value;
    }
  return out;
}

// Nothing in README and docs/ is merely believed: each block of code is read by a test that runs or
// checks it, or is listed here with the reason why not, and then looked at whenever it changes;
// each command in a sentence is one that the program has, with these arguments and options.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, CommanderError } from 'commander';
import { describe, expect, it } from 'vitest';
import { registerCommands } from '../../src/cli/commands.ts';
import { BLOCKS, type Block, blockOf, PAGES, proseOf, ROOT } from '../support/docs.ts';

/** What no test can run. The last is the hash of what stood there when somebody looked at it. */
const UNREAD: [page: string, start: string, why: string, hash: string][] = [
  [
    'CONTRIBUTING.md',
    'npm ci && npm test',
    'hours, most of it by CI (.ci/run); that each exists is tested below',
    'db6dbeaa8738',
  ],
  [
    'docs/dashboard.md',
    'npm start',
    'npm ci builds, the tests of pages use the build; Vite’s own server is for developers',
    '85a95a1a283d',
  ],
  [
    'docs/install.md',
    'docker build',
    'Docker: scripts/container-check.sh builds and runs the image',
    '3126c8e376c0',
  ],
  ['docs/install.md', 'docker exec', 'Docker: scripts/container-check.sh', 'e4c68dc231e3'],
  [
    'docs/install.md',
    'cp deploy/production.env',
    'Docker: .ci/run lints the compose files',
    '459498e4fdd3',
  ],
  [
    'docs/install.md',
    'useradd',
    'needs systemd as process 1: tests/install/deploy.test.ts has systemd read the unit',
    '3f0173f5f1bb',
  ],
  [
    'docs/performance.md',
    'npm ci\nnpm run bench',
    'a quarter of an hour, on a machine that does nothing else',
    '7445125479f7',
  ],
  [
    'docs/scale.md',
    '# on every server',
    'tests/support/citus.ts makes its cluster by the same statements',
    '5201da670ed6',
  ],
  [
    'docs/scale.md',
    'npx sandmartin database distribute',
    'tests/citus/cluster.test.ts runs each on a cluster',
    '8a500de5e69b',
  ],
  [
    'docs/smtp.md',
    'config.action_mailer',
    'Rails is not installed; tests/submission/judges.test.ts compares the values',
    '3bf7ee773289',
  ],
  [
    'docs/smtp.md',
    'MAIL_MAILER',
    'Laravel is not installed; its values are compared',
    '817ad5227403',
  ],
  [
    'docs/smtp.md',
    'spring.mail.host',
    'Spring is not installed; its values are compared',
    '8b25aa7cdfab',
  ],
  [
    'docs/smtp.md',
    'SMTP_HOST',
    'Supabase is not installed; its values are compared',
    'ef66621182c9',
  ],
  [
    'docs/smtp.md',
    '"smtpServer"',
    'Keycloak is not installed; its values are compared',
    '6db0610734ed',
  ],
];

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 12);

describe('blocks of code', () => {
  /** `blockOf('page', 'start')` and `blocksOf('page', 'language')`, as they stand in the tests. */
  const CALL = /\b(blocks?Of)\(\s*(['"])(\S+\.md)\2,\s*(['"`])(.*?)\4,?\s*\)/g;
  const tests = readdirSync(join(ROOT, 'tests'), { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts'),
  );
  const calls = tests.flatMap((file) =>
    [...readFileSync(join(ROOT, 'tests', file), 'utf8').matchAll(CALL)].map(
      ([, by, , page, , what]) => ({ by, page, what: what!.replaceAll('\\n', '\n') }),
    ),
  );
  const isRead = (block: Block) =>
    calls.some(
      ({ by, page, what }) =>
        page === block.page &&
        (by === 'blockOf' ? block.text.startsWith(what) : block.language === what),
    );
  const isListed = (block: Block) =>
    UNREAD.some(([page, start]) => page === block.page && block.text.startsWith(start));

  it('are each read by a test, or listed with the reason why not', () => {
    const unread = BLOCKS.filter(({ language }) => language !== 'text')
      .filter((block) => !isRead(block) && !isListed(block))
      .map(({ page, text }) => `${page}: ${text.split('\n')[0]}`);
    expect(unread).toEqual([]);
  });

  it.each(UNREAD)('%s: "%s" is as it was when somebody looked: %s', (page, start, _why, hash) => {
    expect(hashOf(blockOf(page, start))).toBe(hash);
  });

  it('that are pictures and output hold no command', () => {
    for (const { page, text } of BLOCKS.filter(({ language }) => language === 'text')) {
      expect(text, page).not.toMatch(
        /^(?:\$ )?(?:[A-Z_]+=\S+ +)*(?:npx|npm|node|curl|sandmartin) /m,
      );
    }
  });
});

describe('commands', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const topics = new Set(
    theProgram()
      .commands.filter(({ commands }) => commands.length > 0)
      .map((command) => command.name()),
  );
  /** Begins like a command, and is the name of a check. */
  const CHECK = 'feedback listener';

  const inSentences = [...PAGES, 'ARCHITECTURE.md'].flatMap((page) =>
    [...proseOf(page).matchAll(/`([^`\n]+)`/g)].map(([, text]) => ({ page, text: text! })),
  );
  const inBlocks = BLOCKS.filter(({ language }) => language === '' || language === 'sh').flatMap(
    ({ page, text }) =>
      text
        .replaceAll('\\\n', ' ')
        .split('\n')
        .map((line) => ({ page, text: line.replace(/^\$ /, '').replace(/\s+# .*/, '') })),
  );
  const typed = [...inSentences, ...inBlocks].flatMap(({ page, text }) =>
    text.split(' && ').map((one) => ({
      ...{ page, words: wordsOf(one.replace(/^(?:[A-Z_]+=\S+ +)+/, '')) },
    })),
  );

  const ours = typed.flatMap(({ page, words }) => {
    const at = words[0] === 'npx' ? 1 : 0;
    if (words[at] === 'sandmartin') return eachOf(words.slice(at + 1)).map((one) => [page, one]);
    const isOurs = topics.has(words[0]!) && words.length > 1 && words.join(' ') !== CHECK;
    return isOurs ? eachOf(words).map((one) => [page, one]) : [];
  }) as [page: string, words: string[]][];

  it('of ours exist, with these arguments and options', async () => {
    expect(ours.length).toBeGreaterThan(100);
    const refused: string[] = [];
    for (const [page, words] of ours) {
      const fault = await faultOf(words);
      if (fault !== undefined) refused.push(`${page}: ${words.join(' ')}: ${fault}`);
    }
    expect(refused).toEqual([]);
  });

  it('of npm are scripts of package.json, and name files and benchmarks that exist', () => {
    const faults: string[] = [];
    let looked = 0;
    for (const { page, words } of typed) {
      const [program, ...rest] = words;
      const line = `${page}: ${words.join(' ')}`;
      const path = rest.find((word) => /^(?:tests|deploy|scripts|bench|web)\b/.test(word));
      if (program === 'npm') {
        looked++;
        const [verb, script] = rest;
        const name = verb === 'run' ? script! : verb!;
        if (!(name in scripts || (verb !== 'run' && OF_NPM.includes(name)))) faults.push(line);
        const bench = name === 'bench' ? rest[2] : undefined;
        if (bench !== undefined && bench !== '--' && !existsSync(join(ROOT, `bench/${bench}.ts`)))
          faults.push(line);
      }
      if (['npm', 'npx', 'node', 'cp', 'docker'].includes(program!) && path !== undefined) {
        looked++;
        if (!existsSync(join(ROOT, path)) && path !== FILLED_IN) faults.push(line);
      }
    }
    expect(looked).toBeGreaterThan(50);
    expect(faults).toEqual([]);
  });

  it('have the options that a sentence names alone', () => {
    const known = new Set([...OF_OTHERS, ...everyCommand(theProgram()).flatMap(optionsOf)]);
    const unknown = inSentences
      .filter(({ text }) => /^--[a-z-]+/.test(text))
      .filter(({ text }) => !known.has(/^--[a-z-]+/.exec(text)![0]));
    expect(unknown).toEqual([]);
  });
});

/** Options of other programs: mcp-remote's, the MCP inspector's, Node's. */
const OF_OTHERS = ['--allow-http', '--strict', '--cpu-prof'];

/** What npm does itself. */
const OF_NPM = ['ci', 'install', 'prune', 'audit'];

/** What the page tells its reader to make. */
const FILLED_IN = 'deploy/production.env';

/** As a shell would split them. The brackets of what may be left out are not typed. */
const wordsOf = (line: string): string[] =>
  [...line.matchAll(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g)]
    .map(([word]) => word.replace(/^\[|\]$/g, '').replaceAll(/["']/g, ''))
    .filter((word) => word !== '');

/** `list|add` names two commands. */
const eachOf = (words: string[]): string[][] => {
  const at = words.findIndex((word) => /^[a-z]+(?:\|[a-z]+)+$/.test(word));
  if (at < 0) return [words];
  return words[at]!.split('|').map((word) => words.with(at, word));
};

/** Stands for something of the reader's own. */
const isPlaceholder = (word: string): boolean => /^[A-Z]+$/.test(word) || word.includes('…');

/** What the program says against a command; it runs nothing. A sentence may leave out arguments. */
async function faultOf(words: string[]): Promise<string | undefined> {
  const program = theProgram();
  for (const command of everyCommand(program)) {
    command
      .exitOverride()
      .configureOutput({ writeOut: () => undefined, writeErr: () => undefined });
    if (command.commands.length === 0) command.action(() => undefined);
    for (const argument of command.registeredArguments) argument.required = false;
    for (const option of command.options) option.mandatory = false;
    for (const value of [...command.registeredArguments, ...command.options]) {
      const { parseArg } = value;
      if (parseArg === undefined) continue;
      value.parseArg = <T>(word: string, previous: T) =>
        isPlaceholder(word) ? (word as T) : (parseArg.call(value, word, previous) as T);
    }
  }
  try {
    await program.parseAsync(words, { from: 'user' });
    return undefined;
  } catch (error) {
    const code = error instanceof CommanderError ? error.code : undefined;
    // `link disable --host`: named without the value it takes.
    if (code === 'commander.optionMissingArgument' && words.at(-1)!.startsWith('--'))
      return undefined;
    if (code === 'commander.helpDisplayed') return undefined;
    // A group of commands, by its name.
    if (code === 'commander.help' && words.length < 2) return undefined;
    return (error as Error).message;
  }
}

function theProgram(): Command {
  const program = new Command('sandmartin');
  registerCommands(program);
  return program;
}

const everyCommand = (command: Command): Command[] => [
  command,
  ...command.commands.flatMap(everyCommand),
];

const optionsOf = (command: Command): string[] => command.options.flatMap(({ long }) => long ?? []);

// Words that readers stumbled over, wherever people read: pages, errors, help, docs, emails. The
// list grows; the point is the reading.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..');

const FORBIDDEN: [wrong: RegExp, instead: string][] = [
  [/do not go together/i, 'say which of the two may be wrong'],
  [/captured,? (?:and )?none leaves/i, 'every email is captured and none is delivered'],
  [/starts anew/i, 'resets'],
  [/\bbounce[sd]? for good/i, 'bounces permanently'],
  [/somebody, we hope you/i, 'We received a request to …'],
  [/opens by itself/i, 'unlocks automatically'],
  [/the bank said no/i, 'your bank declined the payment'],
  [/in the van of/i, 'with (the carrier)'],
  [/look into your mail/i, 'check your email'],
  [/not good any more/i, 'no longer works'],
  [/unless told/i, 'by default'],
  [/must be a text\b/i, 'must be a string'],
  [/no led links/i, 'no tracked links'],
  [/label="came through"/i, 'received through'],
  [/>(?:May|Because of)</, 'a noun'],
  [/(?<!tried )\banew\b/i, 'again'],
  [/\bcome again\b/i, 'try again'],
  [/nothing of (?:it|them) has left/i, 'nothing has been sent yet'],
  [/shown this once/i, 'shown only once'],
  [/read, made or recorded/i, 'read, composed or recorded'],
  [/takes our log-?in/i, 'accepts our login'],
  [/how (?:it|they|the service|each \w+) does?\b/i, 'its state'],
  [/(?<!const )\b(?:inside|outside) of\b/i, 'inside, outside'],
  [/past its days\b/i, 'past its retention'],
  [/does not go with what/i, 'conflicts with'],
  [/what people call (?:it|them)\b/i, 'its name'],
  [/until told/i, 'until it is set'],
  [/\bwhat bec(?:a|o)mes? of\b/i, 'what happened to'],
  [/\bmend(?:s|ed|ing)?\b/i, 'fix'],
  [/turns? (?:\w+ )?(?:e?mail|it) away/i, 'reject'],
  [
    /(?<!there )is no (?:valid|verified|address|host|time|url|uuid|json|member|operator)\b/i,
    'is not a',
  ],
  [/(?:exists|is set up|are there|was there) already\b/i, 'already exists'],
  [/in some (?:seconds|days)\b/i, 'in a few seconds'],
  [/\bfor who (?:is|has|was|forgot|lost)\b/i, 'for whoever'],
  [/would hold against/i, 'would object to'],
  [/changes? what is given/i, 'changes the fields you give'],
  [/\bof which nobody knows\b/i, 'whose outcome is unknown'],
  [/label="now and then"/i, 'before and after'],
  [/lapsed unapproved/i, 'expired'],
  [/\bwished for\b/i, 'asked for'],
  [/\breckons?\b/i, 'counts, calculates'],
  [/\bfor want of\b/i, 'for lack of'],
  [/\bhelps on\b/i, 'what to try next'],
  [/\b(?:bits|bytes|\d+) of chance\b/i, 'random'],
  [/\bheld against\b|holds (?:it|them|sends) against/i, 'checked against, compared with'],
  [/\banyhow\b/i, 'anyway'],
  [/\bshall\b/i, 'should, is to'],
  [/\bnone of ours\b/i, 'not ours'],
  [/\b(?:is|was|be) mailed\b/i, 'emailed'],
  [/\bstands? astray\b/i, 'is misplaced'],
  [/\bfor who (?:said|looks|wrote|goes|asks)\b/i, 'for whoever'],
  [/(?<!known to )\b(?:some|any|every)body\b/i, 'someone, anyone, everyone'],
  [/\bfor ever\b/i, 'forever'],
  [/(?<!gone )\bfor good\b/i, 'permanently'],
  [/\bthat comes? along\b/i, 'included'],
  [/\bin good order\b/i, 'cleanly'],
  [/\bat present\b/i, 'at the moment'],
  [/\bin vain\b/i, 'without success'],
  [/\ball the same\b(?! (?:as|for|to)\b)/i, 'anyway'],
  [/\bthose there are\b/i, 'name the things'],
  [/\bone needs the other\b/i, 'set both or neither'],
  [/\bOf them (?:who|whose|delivered|opened|bounced)\b/, 'how many of them …'],
  [/\bwhat comes? of (?:it|them)\b|\bwhat came of (?:it|them)\b/i, 'the result'],
  [/\b(?:stranger's|stranger’s) text decides\b/i, 'depends on'],
  [/\bstands? (?:in (?:it|its address|the address)|here)\b/i, 'is'],
  [/\bis told on\b|\bgoes? on as\b/i, 'is passed on, continues as'],
  [/["'`.] ?There are \$\{/, 'Use one of …'],
  [/\ba mailed link\b/i, 'an emailed link'],
];

const READ: [folder: string, ending: RegExp][] = [
  ['src', /\.ts$/],
  ['web/src', /\.tsx?$/],
  ['docs', /\.md$/],
  ['catalog', /\.(?:html|json|txt)$/],
  ['deploy', /\.(?:ya?ml|service|example)$/],
  ['scripts', /\.(?:ts|js|sh)$/],
  ['.', /^(?:README|CONTRIBUTING|ARCHITECTURE|SECURITY)\.md$|^Dockerfile$/],
];

const files = READ.flatMap(([folder, ending]) =>
  readdirSync(join(ROOT, folder), { recursive: folder !== '.', encoding: 'utf8' })
    .filter((file) => ending.test(file))
    .map((file) => join(folder, file)),
);

it('nobody stumbles over the same words twice', () => {
  expect(files.length).toBeGreaterThan(400);
  const found = files.flatMap((file) => {
    const lines = readFileSync(join(ROOT, file), 'utf8').split('\n');
    return lines.flatMap((line, index) =>
      FORBIDDEN.filter(([wrong]) => wrong.test(line)).map(
        ([wrong, instead]) => `${file}:${index + 1} ${wrong}: better ${instead}`,
      ),
    );
  });
  expect(found).toEqual([]);
});

/**
 * A name for an email in code is `email` too. Left are SMTP's MAIL and its stage, what others named
 * (nodemailer, smtp-server, SES), and `mail`, by which templates reach their own subject.
 */
it('names in code say email, not mail', () => {
  const others = /^src\/(smtp|submission|queue)\/|^src\/feedback\/ses\.ts|email-template\.ts$/;
  const left = /^(?:sendMail|mailFrom|onMailFrom|mailMs|mailCommand|MailComposer|nodemailerMail)$/;
  const found = files
    .filter((file) => /^(src|web\/src|bench|scripts)\/.*\.tsx?$/.test(file) && !others.test(file))
    .flatMap((file) => {
      const code = readFileSync(join(ROOT, file), 'utf8')
        .replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
        .replace(/(['"`])(?:(?!\1)[^\\\n]|\\.)*\1|`[^`]*`|\/(?:[^/\\\n]|\\.)+\/[a-z]*/g, '');
      return [
        ...code.matchAll(/\b(?:mails?(?! server)(?:[A-Z]\w*)?|\w*[a-z]Mails?(?:[A-Z]\w*)?)\b/g),
      ]
        .filter(([name]) => !left.test(name))
        .map(([name]) => `${file}: ${name}`);
    });
  expect(found).toEqual([]);
});

/** Rules that read other servers' words are left. */
it('errors, help, logs and answers say email, not mails', () => {
  const code = files.filter((file) => file.startsWith('src') && !/jinja|text-rules/.test(file));
  const found = code.flatMap((file) => {
    const text = readFileSync(join(ROOT, file), 'utf8').replace(/\$\{[^{}]*\}/g, '');
    return [...text.matchAll(/(['"`])((?:(?!\1)[^\\\n]|\\.)*)\1/g)]
      .filter(([, , words]) => /(?:^|[^-.\w])mails (?!\|)|\w mails\b/i.test(words!))
      .map(([words]) => `${file}: ${words}`);
  });
  expect(found).toEqual([]);
});

it('pages say email, not mails', () => {
  const pages = files.filter((file) => file.startsWith('web/src') && file.endsWith('.tsx'));
  const found = pages.flatMap((file) => {
    const text = readFileSync(join(ROOT, file), 'utf8');
    return [...text.matchAll(/>[^<>{}=;]*\b[Mm]ails\b[^<>{}=;]*</g)].map(
      ([words]) => `${file}: ${words}`,
    );
  });
  expect(found).toEqual([]);
});

const GENERATED = ['client/operations.ts'];

it('no comment is wider than 100 columns', () => {
  const wide: string[] = [];
  for (const folder of ['src', 'web/src', 'tests', 'bench', 'scripts']) {
    for (const file of readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })) {
      if (!/\.(?:tsx?|js|sql)$/.test(file) || GENERATED.includes(file)) continue;
      if (/(?:^|\/)(?:node_modules|fixtures|migrations)\//.test(file)) continue;
      for (const [index, line] of readFileSync(join(ROOT, folder, file), 'utf8')
        .split('\n')
        .entries()) {
        // What the linter is told must be on one line.
        const isComment = /^\s*(?:\/\/|\/?\*|--)/.test(line) && !line.includes('biome-ignore');
        if (isComment && [...line].length > 100) wide.push(`${folder}/${file}:${index + 1}`);
      }
    }
  }
  expect(wide).toEqual([]);
});

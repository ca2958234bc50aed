// The software bill of materials (CycloneDX) of what is shipped: the packages the service runs on,
// and those that are bundled into the dashboard's pages. From the lock file, so every platform's is
// in it. `npm run sbom [FILE]`.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '..');
const file = process.argv[2] ?? join(root, '.artifacts/sbom.cdx.json');
const { name, dependencies, optionalDependencies } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
);

const all = JSON.parse(
  execFileSync('npm', ['sbom', '--sbom-format=cyclonedx', '--package-lock-only'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'ignore'],
  }),
);
const dependsOn = new Map(all.dependencies.map((one) => [one.ref, one.dependsOn]));
const own = all.metadata.component['bom-ref'];
const shippedWith = { ...dependencies, ...optionalDependencies };
const wanted = new Set([...Object.keys(shippedWith), ...bundled()]);
const direct = dependsOn.get(own).filter((ref) => wanted.has(nameOf(ref)));
const shipped = reachable(direct);

all.metadata.component.name = name;
all.components = all.components.filter((one) => shipped.has(one['bom-ref'])).map(published);
all.dependencies = [
  { ref: own, dependsOn: direct },
  ...all.dependencies.filter((one) => shipped.has(one.ref)),
];
mkdirSync(dirname(file), { recursive: true });
writeFileSync(file, `${JSON.stringify(all, null, 2)}\n`);
process.stdout.write(`${all.components.length} packages: ${file}\n`);

/** What the pages import; they are bundled, so package.json has it among the tools. */
function bundled() {
  const sources = readdirSync(join(root, 'web/src'), { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.(tsx?|css)$/.test(path))
    .map((path) => readFileSync(join(root, 'web/src', path), 'utf8'));
  const imports = sources.flatMap((text) => [
    ...text.matchAll(/(?:from|import)\s*\(?\s*['"]((?:@[\w.-]+\/)?[\w.-]+)(?:\/[^'"]*)?['"]/g),
  ]);
  return imports.map((match) => match[1]);
}

function reachable(refs) {
  const found = new Set(refs);
  for (const ref of found) for (const next of dependsOn.get(ref) ?? []) found.add(next);
  return found;
}

/** Neither where this machine got it from nor where it lies; and what is bundled is no tool. */
function published({ externalReferences = [], properties = [], ...component }) {
  return {
    ...component,
    scope: 'required',
    externalReferences: externalReferences.filter((it) => it.type !== 'distribution'),
    properties: properties.filter((it) => !/:(path|development)$/.test(it.name)),
  };
}

function nameOf(ref) {
  return ref.slice(0, ref.lastIndexOf('@'));
}

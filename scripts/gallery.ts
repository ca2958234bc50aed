// npm run gallery: writes .artifacts/gallery, the gallery that a service in the sandbox shows at
// /gallery, as files for people to look at or to put on a web server.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { catalogFolder, loadCatalog } from '../src/templates/catalog.ts';
import { GALLERY_PAGE, openGallery } from '../src/templates/gallery.ts';
import { makeHere } from '../src/templates/making.ts';

const folder = fileURLToPath(new URL('../.artifacts/gallery', import.meta.url));
mkdirSync(folder, { recursive: true });
const catalog = loadCatalog(catalogFolder);
const gallery = openGallery({ catalog, making: makeHere(catalog) });
for (const path of gallery.paths()) {
  const { body } = (await gallery.file(path))!;
  writeFileSync(join(folder, path), body);
}
process.stdout.write(`${catalog.templates.size} templates: ${join(folder, GALLERY_PAGE)}\n`);

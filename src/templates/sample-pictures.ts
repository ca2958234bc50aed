// The pictures that samples show: catalog/pictures. Their addresses lead nowhere (.example), so an
// email that shows one carries it, and looks the same in a preview, a test and an email program
// without loading anything. Before: carried-file.ts. Pictures of real data have addresses of their
// own.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CarriedFile } from './carried-file.ts';

/** By name, such as lamp.png; read when first shown. */
export type Pictures = (name: string) => Uint8Array | undefined;

const ADDRESS = 'https://alderfinch.example/pictures/';
const SHOWN = new RegExp(`src="${ADDRESS}([a-z0-9-]+\\.png)"`, 'g');

export function openSamplePictures(folder: string): Pictures {
  const names = new Set(readdirSync(folder));
  const read = new Map<string, Uint8Array>();
  return (name) => {
    if (!names.has(name)) return undefined;
    const known = read.get(name) ?? readFileSync(join(folder, name));
    read.set(name, known);
    return known;
  };
}

export function carrySamplePictures(
  html: string,
  pictures: Pictures,
): { html: string; files: CarriedFile[] } {
  if (!html.includes(ADDRESS)) return { html, files: [] };
  const files = new Map<string, CarriedFile>();
  const shown = html.replace(SHOWN, (whole, filename: string) => {
    const content = pictures(filename);
    if (content === undefined) return whole;
    const contentId = `sample-${filename}`;
    files.set(filename, { contentId, filename, contentType: 'image/png', content });
    return `src="cid:${contentId}"`;
  });
  return { html: shown, files: [...files.values()] };
}

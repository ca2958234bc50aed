// What people read in a MIME tree: its text, its HTML and its files, each as a range of bytes that
// can be decoded on its own. Before: tree.ts. After: sending/stored-head.ts stores the ranges, so
// that showing a line of text does not read 25 MB.
import { type Place, sizeIn } from './decoding.ts';
import { describedBy, fieldOf, parameterText, textOf } from './fields.ts';
import type { Entity } from './tree.ts';

export interface FilePart {
  filename: string;
  contentType: string;
  /** Decoded. */
  size: number;
  contentId?: string;
  inline?: true;
  place: Place;
}

export interface Contents {
  text: Place | null;
  html: Place | null;
  files: FilePart[];
}

/** Files are decoded for their size, piece by piece. */
export function* contentsOf(tree: Entity, body: Buffer): Generator<void, Contents> {
  const contents: Contents = { text: null, html: null, files: [] };
  for (const leaf of leavesOf(tree)) {
    const kind = isFile(leaf) ? undefined : BODIES[leaf.type];
    if (kind !== undefined && contents[kind] === null) contents[kind] = placeOf(leaf);
    else if (leaf.end > leaf.bodyAt || isFile(leaf)) contents.files.push(yield* fileOf(leaf, body));
  }
  return contents;
}

const BODIES: Record<string, 'text' | 'html'> = { 'text/plain': 'text', 'text/html': 'html' };

/** In their order. An email inside an email is one of them: it is not opened. */
export function leavesOf(entity: Entity): Entity[] {
  const isMultipart = entity.type.startsWith('multipart/');
  return !isMultipart || entity.children.length === 0
    ? [entity]
    : entity.children.flatMap(leavesOf);
}

/** Meant to be opened or saved, not read as part of the email. */
export const isFile = ({ fields, parameters }: Entity): boolean => {
  const disposition = describedBy(fieldOf(fields, 'content-disposition'));
  return (
    disposition.value === 'attachment' ||
    (parameterText(disposition.parameters, 'filename') ?? parameterText(parameters, 'name')) !==
      undefined
  );
};

export function placeOf({ bodyAt, end, encoding, parameters }: Entity): Place {
  const charset = parameters.get('charset');
  return {
    at: bodyAt,
    length: end - bodyAt,
    ...((encoding === 'base64' || encoding === 'quoted-printable') && { encoding }),
    ...(charset && { charset }),
  };
}

function* fileOf(leaf: Entity, body: Buffer): Generator<void, FilePart> {
  const { fields, type, parameters } = leaf;
  const disposition = describedBy(fieldOf(fields, 'content-disposition'));
  const named =
    parameterText(disposition.parameters, 'filename') ?? parameterText(parameters, 'name');
  const contentId = fieldOf(fields, 'content-id')?.value.replace(/^<|>$/g, '').slice(0, 200);
  const place = placeOf(leaf);
  return {
    filename: readable(named) ?? `part.${ENDINGS[type] ?? 'bin'}`,
    contentType: textOf({ value: type }).slice(0, 200),
    size: yield* sizeIn(body, place),
    ...(contentId && { contentId }),
    ...(disposition.value === 'inline' && { inline: true as const }),
    place,
  };
}

const ENDINGS: Record<string, string> = {
  'text/plain': 'txt',
  'text/html': 'html',
  'text/calendar': 'ics',
  'message/rfc822': 'eml',
  'application/pgp-signature': 'asc',
  'application/pkcs7-signature': 'p7s',
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/gif': 'gif',
};

/** As a name without a path; undefined: nothing is left of it. */
function readable(name: string | undefined): string | undefined {
  return (
    name
      ?.replace(/[/\\\p{Cc}]/gu, '_')
      .trim()
      .slice(0, 255) || undefined
  );
}

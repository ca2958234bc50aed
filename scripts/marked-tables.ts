// Tables between markers of a document: they are made, what is written around them stays. Used by
// the describe-*.ts beside it.

/** The document with one table made again; as it is where it has no such marker. */
export function between(text: string, name: string, make: () => string): string {
  const marked = new RegExp(`(<!-- ${name}: made by npm run generate -->\n)[^]*?(<!-- end -->)`);
  return text.replace(marked, (_, begin: string, end: string) => `${begin}${make()}${end}`);
}

export const table = (header: string[], rows: string[][]): string =>
  [header, header.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`)
    .join('');

// Files as the API answers them, saved by the browser under their name.
import type { File as SentFile } from '../../../src/client/operations.ts';

export const bytesOf = ({ content_base64 }: Pick<SentFile, 'content_base64'>) =>
  Uint8Array.from(atob(content_base64), (letter) => letter.charCodeAt(0));

/** Whatever the sender called it, it is saved and never shown as a page of ours. */
export const download = (file: SentFile): void => save(file.filename, bytesOf(file));

/** What a page made itself: codes, a zone file, a table. */
export const downloadText = (filename: string, text: string): void => save(filename, text);

function save(filename: string, content: BlobPart): void {
  const url = URL.createObjectURL(new Blob([content], { type: 'application/octet-stream' }));
  const link = Object.assign(document.createElement('a'), { href: url, download: filename });
  link.click();
  URL.revokeObjectURL(url);
}

// Files as the API answers them, saved by the browser under their name.
import type { File as SentFile } from '../../../src/client/operations.ts';

export const bytesOf = ({ content_base64 }: Pick<SentFile, 'content_base64'>) =>
  Uint8Array.from(atob(content_base64), (letter) => letter.charCodeAt(0));

/** Whatever the sender called it, it is saved and never shown as a page of ours. */
export function download(file: SentFile): void {
  const url = URL.createObjectURL(new Blob([bytesOf(file)], { type: 'application/octet-stream' }));
  const link = Object.assign(document.createElement('a'), { href: url, download: file.filename });
  link.click();
  URL.revokeObjectURL(url);
}

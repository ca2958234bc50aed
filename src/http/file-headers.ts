// Headers of a download. Whatever it is, the browser saves it and does not show it.

/** RFC 6266: a plain name for old programs, the real one in UTF-8. */
export function attachmentHeaders(filename: string, contentType: string): Record<string, string> {
  const plain = filename.replace(/[^\x20-\x7e]|["\\%]/g, '_');
  const encoded = encodeURIComponent(filename).replace(
    /['()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return {
    'content-type': contentType,
    'content-disposition': `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`,
  };
}

// A file that an email carries, and how a preview shows it. Before: carrying.ts found what
// templates ask for; logos.ts has the account's. After: sending/accept.ts puts it beside the HTML.

/** An image that the HTML shows as `cid:…`, or, without a contentId, a file to open. */
export interface CarriedFile {
  contentId?: string;
  filename: string;
  contentType: string;
  content: Uint8Array;
}

/** One that the HTML shows. */
export type CarriedImage = CarriedFile & { contentId: string };

/** For someone who looks at an email without having received it: a preview. */
export function showCarried(html: string, files: readonly CarriedFile[]): string {
  return files.reduce(
    (shown, { contentId, contentType, content }) =>
      contentId === undefined
        ? shown
        : shown.replaceAll(
            `src="cid:${contentId}"`,
            `src="data:${contentType};base64,${Buffer.from(content).toString('base64')}"`,
          ),
    html,
  );
}

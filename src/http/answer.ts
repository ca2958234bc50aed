// Who answers a request, and with what, where no framework is in between.
import type { IncomingMessage, ServerResponse } from 'node:http';

export type HttpHandler = (request: IncomingMessage, response: ServerResponse) => void;

export interface HttpAnswer {
  status: number;
  headers: Record<string, string>;
  text: string;
}

/** As JSON. Adds to the given headers, which were created for this answer. */
export function answerJson(
  status: number,
  body: object,
  request: string,
  headers: Record<string, string>,
): HttpAnswer {
  headers['x-request-id'] = request;
  headers['content-type'] = 'application/json; charset=utf-8';
  return { status, headers, text: JSON.stringify(body) };
}

export function writeAnswer(response: ServerResponse, { status, headers, text }: HttpAnswer): void {
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(text) });
  response.end(text);
}

/** Who reads an answer: when they have it or hung up, and how to hang up on them. */
export const readerOf = (response: ServerResponse) => ({
  onGone: (stop: () => void) => void response.once('close', stop),
  hangUp: () => void response.destroy(),
});

/** The first value of a header that was sent several times. */
export const oneOf = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value[0] : value;

// The service's own openapi.json, which the reference reads. Separate from the reference, so that
// the table of pages can fetch it in advance.
import { queryOptions } from '@tanstack/react-query';
import type { OpenApi } from './openapi.ts';

export const openApiQuery = queryOptions({ queryKey: ['openapi'], queryFn: readDocument });

async function readDocument(): Promise<OpenApi> {
  const answer = await fetch('./openapi.json');
  if (!answer.ok) throw new Error(`The service answered ${answer.status} to openapi.json.`);
  return (await answer.json()) as OpenApi;
}

// How a route is written: schemas of the input, and the work. The contract defines the rest, and
// its types apply here.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { MemberRole } from '../accounts/scopes.ts';
import { notFitting, requireModest } from '../operations/read-input.ts';
import type { Session } from '../people/sessions.ts';
import type { Api, ROUTES, RouteName } from './contract.ts';
import type { DashboardDeps } from './deps.ts';

type Part<Name extends RouteName, Key extends string> =
  Api[Name] extends Record<Key, infer Value> ? Value : undefined;
type AccessOf<Name extends RouteName> = (typeof ROUTES)[Name]['access'];
type IsJson<Name extends RouteName> = (typeof ROUTES)[Name] extends { kind: string } ? false : true;

/** One request, admitted and read. */
export interface Call<Name extends RouteName> {
  params: Part<Name, 'params'>;
  query: Part<Name, 'query'>;
  body: Part<Name, 'body'>;
  session: AccessOf<Name> extends 'public' ? Session | null : Session;
  /** The account of the session: everything a member's route does is done within it. */
  accountId: AccessOf<Name> extends MemberRole ? number : undefined;
  request: FastifyRequest;
  reply: FastifyReply;
}

export type Work<Name extends RouteName> = {
  run(
    deps: DashboardDeps,
    call: Call<Name>,
  ): Promise<IsJson<Name> extends true ? Api[Name]['answer'] : unknown>;
} & (Part<Name, 'body'> extends undefined ? object : { body: z.ZodType<Part<Name, 'body'>> }) &
  (Part<Name, 'query'> extends undefined ? object : { query: z.ZodType<Part<Name, 'query'>> });

export type Works<Name extends RouteName = RouteName> = { [Each in Name]: Work<Each> };

/**
 * What does not fit is named, each with its path. Unlike in the API, empty and null are taken
 * literally: forms send them on purpose.
 */
export function readAs<Value>(schema: z.ZodType<Value>, raw: unknown): Value {
  requireModest(raw);
  const read = schema.safeParse(raw ?? {});
  if (read.success) return read.data;
  throw notFitting(schema, read.error);
}

/** For lists that are read page by page. */
export const pageQuery = {
  before: z.string().max(400).optional(),
  limit: z.coerce.number().int().min(1).max(200).optional(),
};

export const PAGE_SIZE = 50;

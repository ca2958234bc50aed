// What the REST door works with: built once by roles/api.ts.
import type { IncomingMessage } from 'node:http';
import type { HttpHandler } from '../http/answer.ts';
import type { Bodies } from '../http/body.ts';
import type { PlainAnswers } from '../http/plain-requests.ts';
import type { HttpServerOptions } from '../http/server.ts';
import type { Asking } from '../process/asked.ts';
import type { Exposure, HealthDeps } from './health.ts';
import type { ServeDeps } from './serve-operations.ts';

export interface RestDeps extends ServeDeps {
  /** Shared by all doors. */
  bodies: Bodies;
  http: HttpServerOptions;
  health: HealthDeps;
  asking: Asking;
  metricsExposure: Exposure;
  /** Other doors on the same port, by path; they read and answer the bare request. */
  mounts: Record<string, HttpHandler>;
  /** The same doors for requests that took the short path, by method and path. */
  plainRequests: PlainAnswers;
  /** Another door on the same port that takes this request; undefined: none does. */
  otherDoor: (request: IncomingMessage) => HttpHandler | undefined;
}

/** Converts an app's response to a call to an outcome (docs/protocol.md#answers). */
import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import type { RunResult } from '../model/runs/endpoint-response.ts';
import { errorOf, isFunctionError, type Op, type OpsProblem, parseOps } from '../model/runs/operation.ts';
import { retryAfterMs } from '../model/runs/retry.ts';
import type { StepLinks } from '../model/runs/run.ts';
import type { RunFailure } from '../model/runs/run-failure.ts';
import { expected } from '../model/values/expected.ts';
import { isShallowJson, MAX_DEPTH, tryParseJson } from '../model/values/json.ts';
import { failureOf, foreignFailure, isSuccess } from './error-response.ts';
import { headerName, readHeader } from './headers.ts';
import type { CallResponse } from './http-post.ts';

export interface Failure extends RunFailure {
  kind: 'failed';
  retriable: boolean;
  retryAfterMs?: number | undefined;
  /** Set if no response arrived in time. */
  noResponse?: true;
  /** Set if something other than an SDK responded, such as the host of a deployment that is gone. */
  isForeign?: true;
  /** Set if the version on which the run ends is not known. */
  isVersionUnknown?: true;
  /** Number of finished steps at the failure, if the call had stored some. */
  finishedSteps?: number;
  /** Operations reported together with the error. */
  ops?: Op[];
  /** The request that a destination got. */
  request?: StepLinks['request'];
}

export type Outcome =
  /** `ops`: operations reported together with the completion. `request`: of a destination. */
  | ({ kind: 'completed'; ops?: Op[]; request?: StepLinks['request'] } & RunResult)
  /** `retryAfterMs`: the delay that the app requests if a step failed. `noRetry`: a step that failed is not retried. `race`: the app asks for
   *  race mode in all steps. */
  | { kind: 'steps'; ops: Op[]; retryAfterMs?: number | undefined; noRetry?: true; race?: true }
  | Failure;

/** SDKs send about ten headers, and proxies add as many. */
const MAX_HEADERS = 200;
/** Call format versions in which steps do not wait for each other. */
const FORMER_VERSIONS: ReadonlySet<string> = new Set(['0', '1']);

/** @param nowMs the base for a `retry-after` date */
export function interpretResponse(response: CallResponse, nowMs: number): Outcome {
  const { status, headers, body } = response;
  const headerCount = countOf(headers);
  if (headerCount > MAX_HEADERS) {
    return retriableFailure('TooManyHeaders', `the response has ${headerCount} headers, more than ${MAX_HEADERS}`);
  }
  if (readHeader(headers, 'sdk') === undefined)
    return { kind: 'failed', ...foreignFailure(response), retriable: true, isForeign: true };
  if (status !== STREAMED) return interpretComplete(response, nowMs);
  if (!isShallowJson(body)) return tooDeep(status);
  const unwrapped = unwrapStreamed(response);
  return typeof unwrapped === 'string'
    ? retriableFailure('AppError', `the response (status 201) is streamed, but ${unwrapped}`)
    : interpretComplete(unwrapped, nowMs);
}

function interpretComplete({ status, headers, body }: CallResponse, nowMs: number): Outcome {
  // The body of a streamed response may be JSON inside a string.
  if (isSuccess(status) && !isShallowJson(body)) return tooDeep(status);
  if (status !== 206 && isSuccess(status)) return completed(body, headers);
  const noRetry = readHeader(headers, 'no-retry') === 'true';
  const delay = { retryAfterMs: retryAfterMs(headers['retry-after'], nowMs) };
  if (status !== 206) return { kind: 'failed', ...failureOf(body, status, noRetry), retriable: !noRetry, ...delay };
  const outcome = steps(body);
  if (outcome.kind === 'completed') return outcome;
  if (outcome.kind === 'failed') return { ...outcome, retriable: outcome.retriable && !noRetry, ...delay };
  return { ...outcome, ...(noRetry && { noRetry }), ...delay, ...(asksForRace(headers) && { race: true }) };
}

function tooDeep(status: number): Failure {
  return permanentFailure(
    'AnswerTooDeep',
    `the response (status ${status}) is nested deeper than ${MAX_DEPTH} levels; return flatter data`,
  );
}

/** SDKs with an earlier call format settle promises in the order in which their steps end. */
function asksForRace(headers: IncomingHttpHeaders): boolean {
  return FORMER_VERSIONS.has(readHeader(headers, 'req-version') ?? '');
}

function countOf(headers: IncomingHttpHeaders): number {
  let count = 0;
  for (const value of Object.values(headers)) count += Array.isArray(value) ? value.length : 1;
  return count;
}

/** The attempt failed without a valid response; a retry may succeed. */
export function retriableFailure(name: string, message: string): Failure {
  return { kind: 'failed', error: { name, message }, retriable: true };
}

/** A retry would not help. */
export function permanentFailure(name: string, message: string): Failure {
  return { kind: 'failed', error: { name, message }, retriable: false };
}

/** JSON text is the output; any other text becomes a string. */
function completed(body: string, headers: IncomingHttpHeaders): Outcome {
  if (body.trim() === '') return { kind: 'completed', output: 'null' };
  if (tryParseJson(body) !== undefined) return { kind: 'completed', output: body };
  const encoding = headers['content-encoding'];
  return encoding === undefined || encoding === 'identity'
    ? { kind: 'completed', output: JSON.stringify(body) }
    : retriableFailure('AppError', `the response (status 200) is encoded (${encoding}), which no call asks for`);
}

function steps(body: string): Outcome {
  const { ops, refused } = parseOps(tryParseJson(body));
  const done = ops.find(({ op }) => op === 'RunComplete');
  const others = ops.filter((op) => op !== done);
  const failed = done && !refused ? undefined : others.find(isFunctionError);
  if (failed) {
    const retriable = failed.op !== 'StepFailed' && failed.error?.noRetry !== true;
    return {
      kind: 'failed',
      error: errorOf(failed),
      summary: retriable ? 'invalid status code: 206' : 'NonRetriableError',
      retriable,
      ops: others.filter((op) => op !== failed),
    };
  }
  if (refused) return { ...refusal(refused), ops: others };
  if (!done) return { kind: 'steps', ops };
  return {
    kind: 'completed',
    output: JSON.stringify(done.data ?? null),
    ...(others.length > 0 && { ops: others }),
  };
}

/** Failure of an attempt with a rejected operation. */
function refusal({ problem, message }: OpsProblem): Failure {
  return problem === 'invalid'
    ? retriableFailure('AppError', `the response (status 206) is not a list of step operations: ${message}`)
    : permanentFailure(problem, message);
}

/** A streamed response: status 201 immediately, white space while the function runs, and at the end a JSON envelope with the actual
 *  response (docs/protocol.md#streamed-answers). */
export const STREAMED = 201;

const envelopeSchema = z.object({
  status: z.int().min(200).max(599),
  headers: z.record(z.string(), z.unknown()).nullish(),
  body: z.unknown().optional(),
  /** Only the official Go SDK sends these, instead of headers. */
  noRetry: z.boolean().nullish(),
  retryAt: z.string().nullish(),
});

/** @param response a response with status 201
 *  @returns the response in the envelope, or the reason why there is none */
export function unwrapStreamed({ headers, body }: CallResponse): CallResponse | string {
  const { success, data, error } = envelopeSchema.safeParse(tryParseJson(body), { error: expected });
  if (!success) {
    const { path, message } = error.issues[0] as z.core.$ZodIssue;
    return `it does not end with a JSON object of status, headers and body (${path.join('.')}: ${message})`;
  }
  if (data.status === STREAMED) return 'its envelope has status 201 too';
  // Headers mean that the body is text, as in HTTP. The Go SDK has no headers, and a body of any type.
  const isText = typeof data.body === 'string' && data.headers;
  return {
    status: data.status,
    headers: {
      ...headers,
      ...lowercased(data.headers ?? {}),
      ...(data.noRetry === true && { [headerName('inngest', 'no-retry')]: 'true' }),
      ...(data.retryAt && { 'retry-after': data.retryAt }),
    },
    body: isText ? (data.body as string) : JSON.stringify(data.body ?? null),
  };
}

function lowercased(headers: Record<string, unknown>): IncomingHttpHeaders {
  const known: IncomingHttpHeaders = {};
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === 'string') known[name.toLowerCase()] = value;
  }
  return known;
}

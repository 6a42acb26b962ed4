/** Turns an app's response to a call into an outcome (docs/protocol.md#answers). */
import type { IncomingHttpHeaders } from 'node:http';
import { isFunctionError, type Op, parseOps, errorOf as stepErrorOf } from '../model/runs/operation.ts';
import { retryAfterMs } from '../model/runs/retry.ts';
import { boundedError, type RunError } from '../model/runs/run.ts';
import { isShallowJson, MAX_DEPTH } from '../model/values/json.ts';
import { readHeader } from './headers.ts';

export interface Failure {
  kind: 'failed';
  error: RunError;
  retriable: boolean;
  retryAfterMs?: number | undefined;
  /** No response came, or none in time. */
  noResponse?: true;
  /** Number of finished steps at the failure, where the call had stored some of them before. */
  at?: number;
  /** What the response reports beside its error. */
  ops?: Op[];
}

export type Outcome =
  /** `ops`: what the response reports beside the completion. */
  | { kind: 'completed'; output: string; ops?: Op[] }
  /** `retryAfterMs`: the delay that the app requests if a step failed. `race`: it asks for race mode in all steps. */
  | { kind: 'steps'; ops: Op[]; retryAfterMs?: number | undefined; race?: true }
  | Failure;

export interface CallResponse {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

/** An SDK sends about ten headers, and proxies add as many. */
const MAX_HEADERS = 200;
/** Of the call format, in which steps do not wait for each other. */
const FORMER_VERSIONS: ReadonlySet<string> = new Set(['0', '1']);
/** Quoted part of a body that is not a protocol error. */
const BODY_CHARS = 500;

/** @param nowMs the base for a `retry-after` date */
export function interpretResponse({ status, headers, body }: CallResponse, nowMs: number): Outcome {
  const headerCount = countOf(headers);
  if (headerCount > MAX_HEADERS) {
    return retriableFailure('TooManyHeaders', `the response has ${headerCount} headers, more than ${MAX_HEADERS}`);
  }
  if (readHeader(headers, 'sdk') === undefined) {
    return retriableFailure(
      'AppError',
      `the response (status ${status}) did not come from an SDK: it has no sdk header; check the URL`,
    );
  }
  if ((status === 200 || status === 206) && !isShallowJson(body)) {
    return permanentFailure(
      'AnswerTooDeep',
      `the response (status ${status}) is nested deeper than ${MAX_DEPTH} levels; return flatter data`,
    );
  }
  if (status === 200) return completed(body);
  const [retryAfter] = [headers['retry-after']].flat();
  const delay = retryAfter === undefined ? {} : { retryAfterMs: retryAfterMs(retryAfter, nowMs) };
  if (status === 206) return { ...steps(body), ...delay, ...(asksForRace(headers) && { race: true }) };
  const retriable = readHeader(headers, 'no-retry') !== 'true';
  return { kind: 'failed', error: errorOf(body, status), retriable, ...delay };
}

/** An SDK that speaks a former version of the call format replays promises in the order in which their steps end. */
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

function completed(body: string): Outcome {
  const output = body.trim() === '' ? 'null' : body;
  return parse(output) === undefined
    ? retriableFailure('AppError', 'the response (status 200) is not JSON')
    : { kind: 'completed', output };
}

function steps(body: string): Outcome {
  const ops = parseOps(parse(body));
  if ('problem' in ops) {
    if (ops.problem !== 'invalid') return permanentFailure(ops.problem, ops.message);
    return retriableFailure('AppError', `the response (status 206) is not a list of step operations: ${ops.message}`);
  }
  const done = ops.find(({ op }) => op === 'RunComplete');
  if (done) {
    const beside = ops.filter((op) => op !== done);
    return { kind: 'completed', output: JSON.stringify(done.data ?? null), ...(beside.length > 0 && { ops: beside }) };
  }
  const failed = ops.find(isFunctionError);
  if (!failed) return { kind: 'steps', ops };
  const beside = ops.filter((op) => op !== failed);
  return { kind: 'failed', error: stepErrorOf(failed), retriable: failed.op === 'StepError', ops: beside };
}

function errorOf(body: string, status: number): RunError {
  const parsed = isShallowJson(body) ? parse(body) : undefined;
  // Some SDKs send the error as a JSON string that contains JSON.
  const sent = (typeof parsed === 'string' ? (parse(parsed) ?? parsed) : parsed) as
    | Partial<RunError>
    | string
    | undefined;
  if (typeof sent === 'string') return boundedError({ name: 'Error', message: sent });
  const { name, message, stack } = sent ?? {};
  return boundedError({
    name: typeof name === 'string' ? name : 'Error',
    message:
      typeof message === 'string' ? message : `the app responded with status ${status}: ${body.slice(0, BODY_CHARS)}`,
    ...(typeof stack === 'string' && { stack }),
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What an app's answer to a call means (docs/protocol.md#answers). */
import type { IncomingHttpHeaders } from 'node:http';
import { type Op, parseOps } from '../model/runs/operation.ts';
import { retryAfterMs } from '../model/runs/retry.ts';
import { boundedError, type RunError } from '../model/runs/run.ts';
import { isShallowJson, MAX_DEPTH } from '../model/values/json.ts';
import { readHeader } from './headers.ts';

export interface Failure {
  kind: 'failed';
  error: RunError;
  retriable: boolean;
  retryAfterMs?: number | undefined;
  /** No answer came, or none in time. */
  unanswered?: true;
}

export type Outcome =
  | { kind: 'completed'; output: string }
  /** `retryAfterMs`: what the app asks for should a step among them have failed */
  | { kind: 'progress'; ops: Op[]; retryAfterMs?: number | undefined }
  | Failure;

export interface CallResponse {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

/** An SDK sends about ten headers, and proxies add as many. */
const MAX_HEADERS = 200;
/** Characters of an answer that is no error of the protocol's, for the message. */
const BODY_SHOWN = 500;

/** @param nowMs for a `retry-after` that is a date */
export function interpretResponse({ status, headers, body }: CallResponse, nowMs: number): Outcome {
  const headerCount = countOf(headers);
  if (headerCount > MAX_HEADERS) {
    return failedAttempt('TooManyHeaders', `the answer has ${headerCount} headers, more than ${MAX_HEADERS}`);
  }
  if (readHeader(headers, 'sdk') === undefined) {
    return failedAttempt(
      'AppError',
      `the answer (status ${status}) did not come from an SDK: it has no sdk header; is the URL right?`,
    );
  }
  if ((status === 200 || status === 206) && !isShallowJson(body)) {
    return failedForGood(
      'AnswerTooDeep',
      `the answer (status ${status}) is nested deeper than ${MAX_DEPTH} levels; return flatter data`,
    );
  }
  if (status === 200) return completed(body);
  const [asked] = [headers['retry-after']].flat();
  const delay = asked === undefined ? {} : { retryAfterMs: retryAfterMs(asked, nowMs) };
  if (status === 206) return { ...progress(body), ...delay };
  const retriable = readHeader(headers, 'no-retry') !== 'true';
  return { kind: 'failed', error: errorOf(body, status), retriable, ...delay };
}

function countOf(headers: IncomingHttpHeaders): number {
  let count = 0;
  for (const value of Object.values(headers)) count += Array.isArray(value) ? value.length : 1;
  return count;
}

/** An attempt that failed without an answer that means anything; it is worth another. */
export function failedAttempt(name: string, message: string): Failure {
  return { kind: 'failed', error: { name, message }, retriable: true };
}

/** Another attempt would change nothing. */
export function failedForGood(name: string, message: string): Failure {
  return { kind: 'failed', error: { name, message }, retriable: false };
}

function completed(body: string): Outcome {
  const output = body.trim() === '' ? 'null' : body;
  return parse(output) === undefined
    ? failedAttempt('AppError', 'the answer (status 200) is not JSON')
    : { kind: 'completed', output };
}

function progress(body: string): Outcome {
  const ops = parseOps(parse(body));
  if ('problem' in ops) {
    if (ops.problem !== 'invalid') return failedForGood(ops.problem, ops.message);
    return failedAttempt('AppError', `the answer (status 206) is no list of step operations: ${ops.message}`);
  }
  const done = ops.find(({ op }) => op === 'RunComplete');
  return done ? { kind: 'completed', output: JSON.stringify(done.data ?? null) } : { kind: 'progress', ops };
}

function errorOf(body: string, status: number): RunError {
  const parsed = isShallowJson(body) ? parse(body) : undefined;
  // Some libraries send the error as a JSON string of its JSON.
  const given = (typeof parsed === 'string' ? (parse(parsed) ?? parsed) : parsed) as
    | Partial<RunError>
    | string
    | undefined;
  if (typeof given === 'string') return boundedError({ name: 'Error', message: given });
  const { name, message, stack } = given ?? {};
  return boundedError({
    name: typeof name === 'string' ? name : 'Error',
    message:
      typeof message === 'string' ? message : `the app answered with status ${status}: ${body.slice(0, BODY_SHOWN)}`,
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

/** What an app's answer to a call means (protocol: answers). */
import type { IncomingHttpHeaders } from 'node:http';
import { retryAfterMs } from '../model/retry.ts';
import type { RunError } from '../model/run.ts';
import { readHeader } from './headers.ts';

export type Outcome =
  | { kind: 'completed'; output: string }
  | { kind: 'failed'; error: RunError; retriable: boolean; retryAfterMs?: number | undefined };

/** Characters of an answer that is no error of the protocol's, for the message. */
const BODY_SHOWN = 500;

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

/** @param nowMs for a `retry-after` that is a date */
export function interpret({ status, headers, body }: Answer, nowMs: number): Outcome {
  if (readHeader(headers, 'sdk') === undefined) {
    return failedAttempt(
      'AppError',
      `the answer (status ${status}) did not come from an SDK: it has no sdk header; is the URL right?`,
    );
  }
  if (status === 200) return completed(body);
  if (status === 206) return fromOps(body);
  const retriable = readHeader(headers, 'no-retry') !== 'true';
  const asked = headers['retry-after'];
  return {
    kind: 'failed',
    error: errorOf(body, status),
    retriable,
    ...(asked !== undefined && { retryAfterMs: retryAfterMs(asked, nowMs) }),
  };
}

/** An attempt that failed without an answer that means anything; it is worth another. */
export function failedAttempt(name: string, message: string): Outcome {
  return { kind: 'failed', error: { name, message }, retriable: true };
}

function completed(body: string): Outcome {
  const output = body.trim() === '' ? 'null' : body;
  return parse(output) === undefined
    ? failedAttempt('AppError', 'the answer (status 200) is not JSON')
    : { kind: 'completed', output };
}

/** Progress by operations. Of those, only the completion of the run is known here yet. */
function fromOps(body: string): Outcome {
  const ops = parse(body);
  const op = Array.isArray(ops) ? (ops[0] as { op?: string; data?: unknown } | undefined) : undefined;
  if (op?.op === 'RunComplete') return { kind: 'completed', output: JSON.stringify(op.data ?? null) };
  const message = `the function answered with the step operation ${JSON.stringify(op?.op)}; steps are not supported yet`;
  return { kind: 'failed', error: { name: 'UnsupportedStep', message }, retriable: false };
}

function errorOf(body: string, status: number): RunError {
  const parsed = parse(body);
  // Some libraries send the error as a JSON string of its JSON.
  const given = (typeof parsed === 'string' ? (parse(parsed) ?? parsed) : parsed) as
    | Partial<RunError>
    | string
    | undefined;
  if (typeof given === 'string') return { name: 'Error', message: given };
  const { name, message, stack } = given ?? {};
  return {
    name: typeof name === 'string' ? name : 'Error',
    message:
      typeof message === 'string' ? message : `the app answered with status ${status}: ${body.slice(0, BODY_SHOWN)}`,
    ...(typeof stack === 'string' && { stack }),
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** One call of a function, and its outcome in the protocol's terms: 200 done, 400 failed for good, 500 try again. */
import { inspect } from 'node:util';
import { NonRetriableError, RetryAfterError, ServeError } from './errors.ts';
import type { IncomingEvent } from './events.ts';
import type { FunctionContext, TidegateFunction } from './functions.ts';
import { HEADERS } from './headers.ts';

export interface Outcome {
  status: number;
  headers: Record<string, string>;
  /** JSON. */
  body: string;
}

/** The part of a call request's body that this version reads. */
interface CallBody {
  event?: IncomingEvent;
  events?: IncomingEvent[];
  use_api?: boolean;
  ctx?: { run_id?: string; attempt?: number; use_api?: boolean };
}

/** @throws ServeError when the body is not one of a call request */
export function readCall(text: string): FunctionContext {
  const { event, events, ctx, use_api: useApi = ctx?.use_api } = parseBody(text);
  if (useApi) throw new ServeError(500, 'The events were too large for the call, and this version cannot fetch them');
  if (!event || !ctx?.run_id) throw new ServeError(400, 'The body is not a call request: it lacks event or ctx.run_id');
  return { event, events: events ?? [event], runId: ctx.run_id, attempt: ctx.attempt ?? 0 };
}

function parseBody(text: string): CallBody {
  try {
    return JSON.parse(text) ?? {};
  } catch (cause) {
    throw new ServeError(400, 'The body is not JSON', { cause });
  }
}

/** Never rejects: an output that cannot be written as JSON fails the attempt too. */
export async function runFunction({ handler }: TidegateFunction, context: FunctionContext): Promise<Outcome> {
  try {
    const output = await handler(context);
    return { status: 200, headers: {}, body: JSON.stringify(output) ?? 'null' };
  } catch (error) {
    return failed(error);
  }
}

function failed(thrown: unknown): Outcome {
  if (thrown instanceof NonRetriableError) return failure(400, thrown, { [HEADERS.noRetry]: 'true' });
  const headers: Record<string, string> = { [HEADERS.noRetry]: 'false' };
  if (thrown instanceof RetryAfterError) headers[HEADERS.retryAfter] = String(thrown.retryAfterSeconds);
  return failure(500, thrown, headers);
}

function failure(status: number, thrown: unknown, headers: Record<string, string>): Outcome {
  return { status, headers, body: JSON.stringify(describe(thrown)) };
}

function describe(thrown: unknown): { name: string; message: string; stack?: string | undefined } {
  if (thrown instanceof Error) return { name: thrown.name, message: thrown.message, stack: thrown.stack };
  return { name: 'Error', message: typeof thrown === 'string' ? thrown : inspect(thrown) };
}

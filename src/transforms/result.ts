import { z } from 'zod';
import { ServiceError } from '../errors.ts';
import type { StopCause } from './protocol.ts';
import type { QueuedRequest } from './scheduler/queued-request.ts';
import type { TransformOutcome } from './transform.ts';

const logs = z.array(z.object({ level: z.string(), text: z.string() }));

/** What comes out of an isolate. User code shares that isolate, so the parent believes only what fits. */
const Report = z.union([
  z.object({ event: z.custom<TransformOutcome['event']>(isObjectOrNull), logs }),
  z.object({ error: z.object({ message: z.string(), stack: z.string() }), logs }),
]);
type Report = z.infer<typeof Report>;

const PLACE = /transform\.js:(\d{1,9}):(\d{1,9})\)?$/;
/** The stack is a stranger's text, of any length; the place is in its first lines. */
const STACK_CHARS = 8_192;

export function outcomeOf(ticket: QueuedRequest, text: string, durationMs: number): TransformOutcome | ServiceError {
  const report = read(text);
  if (report === undefined) return failed(ticket, 'its answer could not be read');
  if ('event' in report) return { event: report.event, text, logs: report.logs, durationMs };
  const { message, stack } = report.error;
  const [, line, column] = placeIn(stack) ?? [];
  return failed(ticket, line ? `line ${line}: ${message}` : message, {
    message,
    ...(line && { line: Number(line), column: Number(column) }),
    ...(report.logs.length > 0 && { logs: report.logs }),
  });
}

/** Line by line: a pattern for all of it goes back and forth over what is between. */
function placeIn(stack: string): RegExpExecArray | null {
  for (const line of stack.slice(0, STACK_CHARS).split('\n')) {
    const found = line.trimStart().startsWith('at ') ? PLACE.exec(line) : null;
    if (found) return found;
  }
  return null;
}

export function stopped(ticket: QueuedRequest, cause: StopCause, timeoutMs: number): ServiceError {
  return failed(
    ticket,
    cause === 'time' ? `it ran longer than ${timeoutMs} ms and was stopped` : 'it used too much memory and was stopped',
  );
}

export function quarantined(retryAfterSeconds: number): ServiceError {
  return new ServiceError('transform_quarantined', {
    detail: `it runs again in ${retryAfterSeconds} s, or as soon as its code is changed`,
    retryAfterSeconds,
  });
}

/** For a check the same faults have another name. */
function failed(ticket: QueuedRequest, detail: string, facts: Record<string, unknown> = { message: detail }) {
  return new ServiceError(ticket.args === null ? 'transform_invalid' : 'transform_failed', { detail, facts });
}

function isObjectOrNull(value: unknown) {
  return typeof value === 'object' && !Array.isArray(value);
}

function read(text: string): Report | undefined {
  try {
    return Report.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

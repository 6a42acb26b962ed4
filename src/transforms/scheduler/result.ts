import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import { isJsonObject } from '../../model/values/json.ts';
import type { StopCause } from '../protocol.ts';
import type { TransformOutcome } from '../transform.ts';
import type { QueuedRequest } from './queued-request.ts';

const logs = z.array(z.object({ level: z.string(), text: z.string() }));

/** The output of an isolate. User code shares the isolate and can forge it, so the parent validates it. */
const IsolateReport = z.union([
  z.object({ returned: z.custom<TransformOutcome['returned']>((value) => typeof value === 'object'), logs }),
  z.object({ error: z.object({ message: z.string(), stack: z.string() }), logs }),
]);
type IsolateReport = z.infer<typeof IsolateReport>;

const STACK_FRAME = /transform\.js:(\d{1,9}):(\d{1,9})\)?$/;
/** User code controls the stack, which can have any length; its first lines have the location. */
const STACK_CHARS = 8_192;

export function outcomeOf(request: QueuedRequest, text: string, durationMs: number): TransformOutcome | ServiceError {
  const report = parse(text);
  if (report === undefined) return failed(request, 'its result could not be parsed');
  if ('returned' in report) return { returned: report.returned, text, logs: report.logs, durationMs };
  const { message, stack } = report.error;
  const [, line, column] = firstFrame(stack) ?? [];
  return failed(request, line ? `line ${line}: ${message}` : message, {
    message,
    ...(line && { line: Number(line), column: Number(column) }),
    ...(report.logs.length > 0 && { logs: report.logs }),
  });
}

/** Matches line by line: one pattern for the whole stack would backtrack. */
function firstFrame(stack: string): RegExpExecArray | null {
  for (const line of stack.slice(0, STACK_CHARS).split('\n')) {
    const match = line.trimStart().startsWith('at ') ? STACK_FRAME.exec(line) : null;
    if (match) return match;
  }
  return null;
}

export function stopped(request: QueuedRequest, cause: StopCause, timeoutMs: number): ServiceError {
  return failed(
    request,
    cause === 'time' ? `it ran longer than ${timeoutMs} ms and was stopped` : 'it used too much memory and was stopped',
  );
}

export function quarantined(retryAfterSeconds: number): ServiceError {
  return new ServiceError('transform_quarantined', {
    detail: `it runs again in ${retryAfterSeconds} s, or as soon as its code is changed`,
    retryAfterSeconds,
  });
}

/** A check reports the same faults under another code. */
function failed(request: QueuedRequest, detail: string, facts: Record<string, unknown> = { message: detail }) {
  return new ServiceError(request.args === null ? 'transform_invalid' : 'transform_failed', { detail, facts });
}

function parse(text: string): IsolateReport | undefined {
  try {
    const report: unknown = JSON.parse(text);
    return isUsual(report) ? report : IsolateReport.safeParse(report).data;
  } catch {
    return undefined;
  }
}

/** Whether the report is that of a call that returned and logged nothing. */
function isUsual(report: unknown): report is Extract<IsolateReport, { returned: unknown }> {
  if (!isJsonObject(report) || typeof report.returned !== 'object') return false;
  return Array.isArray(report.logs) && report.logs.length === 0;
}

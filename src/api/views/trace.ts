/** The trace of a run, if tracing recorded it. */
import { z } from 'zod';
import type { Run } from '../../model/runs/run.ts';
import { parseTrace } from '../../tracing/traceparent.ts';
import { textOrNull } from '../http/validation.ts';

export const traceSchema = z.object({
  trace_id: textOrNull.describe('ID of its OpenTelemetry trace: 32 hexadecimal digits; null: the run was not traced'),
  trace_url: textOrNull.describe(
    'URL of the trace, from the setting TRACE_URL_TEMPLATE; null: the setting is missing, or the run was not traced',
  ),
});

/** @param template setting TRACE_URL_TEMPLATE */
export function presentTrace({ id, env, trace }: Pick<Run, 'id' | 'env' | 'trace'>, template: string | undefined) {
  const traceId = trace === undefined ? undefined : parseTrace(trace)?.traceId;
  if (traceId === undefined) return { trace_id: null, trace_url: null };
  const values: Record<string, string> = { trace_id: traceId, run_id: id, env };
  const url = template?.replaceAll(/\{(trace_id|run_id|env)\}/g, (_, name: string) =>
    encodeURIComponent(values[name] ?? ''),
  );
  return { trace_id: traceId, trace_url: url ?? null };
}

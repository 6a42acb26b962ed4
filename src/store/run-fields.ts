/** A run between its fields in Redis and its shape in the code. */
import type { HistoryEntry, Run, RunError, RunStatus } from '../model/run.ts';

export function toRun(env: string, id: string, fields: Record<string, string>): Run {
  const { invoker_run, invoker_step, retry_of, trace, started_at, ended_at, output, error } = fields;
  return {
    id,
    env,
    functionId: fields.function_id as string,
    eventId: fields.event_id as string,
    requestId: fields.request_id as string,
    ...(invoker_run && invoker_step && { invoker: { runId: invoker_run, stepId: invoker_step } }),
    ...(retry_of && { retryOf: retry_of }),
    ...(trace && { trace }),
    status: fields.status as RunStatus,
    attempt: Number(fields.attempt),
    queuedAt: Number(fields.queued_at),
    ...(started_at && { startedAt: Number(started_at) }),
    ...(ended_at && { endedAt: Number(ended_at) }),
    ...(output !== undefined && { output }),
    ...(error !== undefined && { error: JSON.parse(error) as RunError }),
  };
}

export function toHistory(texts: readonly string[]): HistoryEntry[] {
  return texts.map((text) => JSON.parse(text) as HistoryEntry);
}

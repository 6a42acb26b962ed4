/** A run as the API tells it. */
import { z } from 'zod';
import { parseExact } from '../../model/json.ts';
import { RUN_STATUSES, type Run } from '../../model/run.ts';
import { time } from './time.ts';

export const runErrorSchema = z.object({ name: z.string(), message: z.string(), stack: z.string().optional() });

export const runSchema = z
  .object({
    run_id: z.string(),
    function_id: z.string(),
    event_id: z.string().meta({ description: 'Internal ID of the event that caused it' }),
    status: z.enum(RUN_STATUSES),
    attempt: z.int().meta({ description: 'Tries before the present or last one' }),
    queued_at: z.iso.datetime(),
    run_started_at: z.iso.datetime().nullable(),
    ended_at: z.iso.datetime().nullable(),
    output: z.unknown().meta({ description: 'What the function returned; null until then' }),
    error: runErrorSchema
      .nullable()
      .meta({ description: 'Of the last failed attempt; null when none failed or a later one succeeded' }),
    request_id: z.string().meta({ description: 'The request that brought the event' }),
    retry_of: z.string().nullable().meta({ description: 'The run that this one does again' }),
  })
  .meta({ id: 'Run' });

/** What a list of events says of the runs that they caused. */
export function presentBrief({ id, functionId, status }: Pick<Run, 'id' | 'functionId' | 'status'>) {
  return { run_id: id, function_id: functionId, status };
}

export function presentRun(run: Run) {
  const { id, functionId, eventId, requestId, status, attempt, queuedAt, startedAt, endedAt, output, error } = run;
  return {
    run_id: id,
    function_id: functionId,
    event_id: eventId,
    status,
    attempt,
    queued_at: time(queuedAt),
    run_started_at: time(startedAt),
    ended_at: time(endedAt),
    output: output === undefined ? null : parseExact(output),
    error: error ?? null,
    request_id: requestId,
    retry_of: run.retryOf ?? null,
  };
}

/** A run as the API tells it. */
import { z } from 'zod';
import { RUN_STATUSES, type Run } from '../../model/runs/run.ts';
import { isShallowJson, MAX_DEPTH, parseStored } from '../../model/values/json.ts';
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

/** Outputs are held to MAX_DEPTH where they come in. One that was stored before that is told as an error: whoever lists runs must not miss
 *  the others for it. */
function readOutput(output: string): { output: unknown } | { error: z.infer<typeof runErrorSchema> } {
  try {
    if (isShallowJson(output)) return { output: parseStored(output) };
  } catch {
    // Told below.
  }
  const message = `the stored output is no JSON, or nested deeper than ${MAX_DEPTH} levels; it is left out`;
  return { error: { name: 'OutputUnreadable', message } };
}

export function presentRun(run: Run) {
  const { id, functionId, eventId, requestId, status, attempt, queuedAt, startedAt, endedAt, output, error } = run;
  const read = output === undefined ? { output: null } : readOutput(output);
  return {
    run_id: id,
    function_id: functionId,
    event_id: eventId,
    status,
    attempt,
    queued_at: time(queuedAt),
    run_started_at: time(startedAt),
    ended_at: time(endedAt),
    output: 'output' in read ? read.output : null,
    error: error ?? ('error' in read ? read.error : null),
    request_id: requestId,
    retry_of: run.retryOf ?? null,
  };
}

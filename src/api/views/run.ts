/** The API's representation of a run. */
import { z } from 'zod';
import { RUN_STATUSES, type Run } from '../../model/runs/run.ts';
import { isShallowJson, MAX_DEPTH, parseStored } from '../../model/values/json.ts';
import { time } from './time.ts';

export const runErrorSchema = z.object({
  name: z.string(),
  message: z.string(),
  stack: z.string().optional(),
  cause: z.unknown().optional().meta({ description: 'Another error, or any other value' }),
  data: z.unknown().optional().meta({ description: 'What a failed step returned beside its error' }),
  code: z.union([z.string(), z.number()]).optional(),
});

export const runSchema = z
  .object({
    run_id: z.string(),
    function_id: z.string(),
    event_id: z.string().meta({ description: 'Internal ID of the event that triggered the run' }),
    status: z.enum(RUN_STATUSES),
    attempt: z.int().meta({ description: 'Number of attempts before the current or last one' }),
    queued_at: z.iso.datetime(),
    run_started_at: z.iso.datetime().nullable(),
    ended_at: z.iso.datetime().nullable(),
    output: z.unknown().meta({
      description: 'What the function returned; null before it has. Of a failed run, the error as the app sent it',
    }),
    error: runErrorSchema
      .nullable()
      .meta({ description: 'Error of the last failed attempt; null when none failed or a later one succeeded' }),
    request_id: z.string().meta({ description: 'ID of the request that sent the event' }),
    retry_of: z.string().nullable().meta({ description: 'The run of which this is a re-run' }),
  })
  .meta({ id: 'Run' });

/** A run in a list of events. */
export function presentBrief({ id, functionId, status }: Pick<Run, 'id' | 'functionId' | 'status'>) {
  return { run_id: id, function_id: functionId, status };
}

/** Outputs deeper than MAX_DEPTH are rejected on receipt. One that was stored before that rule becomes an error, so that it does not hide
 *  the other runs of a list. */
function readOutput(output: string): { output: unknown } | { error: z.infer<typeof runErrorSchema> } {
  try {
    if (isShallowJson(output)) return { output: parseStored(output) };
  } catch {
    // The error below.
  }
  const message = `the stored output is not JSON or has more than ${MAX_DEPTH} levels; it is omitted`;
  return { error: { name: 'OutputUnreadable', message } };
}

export function presentRun(run: Run) {
  const { id, functionId, eventId, requestId, status, attempt, queuedAt, startedAt, endedAt, output, error } = run;
  const read = output === undefined ? { output: (status === 'Failed' && error) || null } : readOutput(output);
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

/** `/v1/runs`: how a run stands. */
import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import { PRODUCTION } from '../../model/environment.ts';
import { parseExact } from '../../model/json.ts';
import { RUN_STATUSES, type Run } from '../../model/run.ts';
import type { Runs } from '../../store/runs.ts';
import { type Route, route } from '../route.ts';

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
    error: z
      .object({ name: z.string(), message: z.string(), stack: z.string().optional() })
      .nullable()
      .meta({ description: 'Of the last failed attempt; null when none failed or a later one succeeded' }),
    request_id: z.string().meta({ description: 'The request that brought the event' }),
  })
  .meta({ id: 'Run' });

export function runRoutes({ runs }: { runs: Runs }): Route[] {
  return [
    route({
      method: 'get',
      path: '/v1/runs/:id',
      tag: 'Runs',
      summary: 'Read a run',
      params: z.object({ id: z.string() }),
      data: runSchema,
      errors: ['not_found'],
      async handle({ params: { id } }) {
        const run = await runs.read(PRODUCTION, id);
        if (!run) throw new ServiceError('not_found', { detail: `no run has the id "${id}"` });
        return { data: presentRun(run) };
      },
    }),
  ];
}

export function presentRun(run: Run) {
  const { id, functionId, eventId, requestId, status, attempt, queuedAt, startedAt, endedAt, output, error } = run;
  const time = (ms: number | undefined) => (ms === undefined ? null : new Date(ms).toISOString());
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
  };
}

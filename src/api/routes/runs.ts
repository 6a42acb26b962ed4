/** `/v1/runs`: how a run stands. */
import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import type { RunLife } from '../../jobs/run-life.ts';
import { parseExact } from '../../model/json.ts';
import { RUN_STATUSES, type Run } from '../../model/run.ts';
import type { Runs } from '../../store/runs.ts';
import type { Steps } from '../../store/steps.ts';
import { type Route, route } from '../route.ts';
import { presentHistory, time } from '../run-history.ts';

const errorSchema = z.object({ name: z.string(), message: z.string(), stack: z.string().optional() });

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
    error: errorSchema
      .nullable()
      .meta({ description: 'Of the last failed attempt; null when none failed or a later one succeeded' }),
    request_id: z.string().meta({ description: 'The request that brought the event' }),
  })
  .meta({ id: 'Run' });

const historySchema = z
  .object({
    kind: z.enum(['attempt', 'step']),
    step_id: z.string().nullable().meta({ description: 'Hashed ID of the step' }),
    name: z.string().nullable(),
    op: z.string().nullable().meta({ description: 'What kind of step: StepRun, Sleep, WaitForEvent, …' }),
    attempt: z.int().nullable().meta({ description: 'Tries before this one' }),
    status: z.enum(['Waiting', 'Completed', 'Failed']),
    queued_at: z.iso.datetime().nullable(),
    started_at: z.iso.datetime().nullable(),
    ended_at: z.iso.datetime().nullable(),
    until: z.iso.datetime().nullable().meta({ description: 'When a step that waits gives up, or wakes' }),
    error: errorSchema.nullable(),
  })
  .meta({ id: 'HistoryEntry' });

const detailedRunSchema = runSchema
  .extend({
    history: z
      .array(historySchema)
      .meta({ description: 'Attempts and steps in the order of their ends; what waits is last' }),
  })
  .meta({ id: 'RunWithHistory' });

const params = z.object({ id: z.string() });
const notFound = (id: string) => new ServiceError('not_found', { detail: `no run has the id "${id}"` });

export interface RunRouteDeps {
  runs: Runs;
  steps: Steps;
  life: RunLife;
}

export function runRoutes({ runs, steps, life }: RunRouteDeps): Route[] {
  return [
    route({
      method: 'get',
      path: '/v1/runs/:id',
      tag: 'Runs',
      access: 'read',
      about: 'environment',
      summary: 'Read a run with its history',
      params,
      data: detailedRunSchema,
      errors: ['not_found'],
      async handle({ env, params: { id } }) {
        const run = await runs.read(env, id);
        if (!run) throw notFound(id);
        const [history, { pending }] = await Promise.all([runs.history(env, id), steps.progress(env, id)]);
        return { data: { ...presentRun(run), history: presentHistory(run, history, pending) } };
      },
    }),
    route({
      method: 'delete',
      path: '/v1/runs/:id',
      tag: 'Runs',
      access: 'write',
      about: 'environment',
      summary: 'Cancel a run',
      description: 'A call in flight is not broken off; its answer is ignored. Cancelling twice changes nothing.',
      params,
      status: 200,
      data: runSchema,
      errors: ['not_found', 'run_ended'],
      async handle({ env, params: { id } }) {
        const run = await life.cancel(env, id);
        if (!run) throw notFound(id);
        if (run.status !== 'Cancelled') throw new ServiceError('run_ended', { detail: `it is ${run.status}` });
        return { data: presentRun(run) };
      },
    }),
  ];
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
  };
}

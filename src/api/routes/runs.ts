/** `/v1/runs`: how runs stand, and what may be done about it. */
import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import type { FunctionTables } from '../../jobs/ingestion/function-tables.ts';
import type { RunRetries } from '../../jobs/runs/run-retries.ts';
import type { RunTransitions } from '../../jobs/runs/state-transitions.ts';
import { RUN_STATUSES } from '../../model/runs/run.ts';
import type { RunLists } from '../../store/runs/run-lists.ts';
import type { Runs } from '../../store/runs/runs.ts';
import type { Steps } from '../../store/runs/steps.ts';
import { fieldsQuery } from '../rest/fields.ts';
import { inTime, pageQuery } from '../rest/pagination.ts';
import { type Route, route } from '../rest/route.ts';
import { listedRunSchema, listOfRuns } from '../rest/run-list.ts';
import { presentRun, runSchema } from '../views/run.ts';
import { historySchema, presentHistory } from '../views/run-history.ts';
import { presentStep, stepSchema } from '../views/step.ts';
import { time, timeSchema } from '../views/time.ts';

export const detailedRunSchema = runSchema
  .extend({
    next_try_at: z.iso.datetime().nullable().meta({
      description:
        'When its function is next called: after a failure, or first, if the event is of the future; null: no try is waited for',
    }),
    history: z
      .array(historySchema)
      .meta({ description: 'Attempts and steps in the order of their ends; what waits is last' }),
  })
  .meta({ id: 'RunWithHistory' });

const params = z.object({ id: z.string() });
const notFound = (id: string) => new ServiceError('not_found', { detail: `no run has the id "${id}"` });

export interface RunRouteDeps {
  runs: Runs;
  runLists: RunLists;
  functionTables: FunctionTables;
  steps: Steps;
  life: RunTransitions;
  retries: RunRetries;
}

export function runRoutes({ runs, runLists, functionTables, steps, life, retries }: RunRouteDeps): Route[] {
  const tag = 'Runs';

  /** Of one, or of an app's, archived ones too; undefined: of all functions. */
  async function functionIds(env: string, app: string | undefined, functionId: string | undefined) {
    if (app === undefined) return functionId === undefined ? undefined : [functionId];
    const ids = (await functionTables.of(env)).idsOf(app);
    return functionId === undefined ? ids : ids.filter((id) => id === functionId);
  }

  return [
    route({
      method: 'get',
      path: '/v1/runs',
      tag,
      access: 'read',
      about: 'environment',
      summary: 'List runs, newest first',
      description:
        'Without outputs, unless `fields` asks for them. A page may hold fewer runs than its limit and yet carry a cursor: go on until none comes.',
      query: z.object({
        status: z.enum(RUN_STATUSES).optional(),
        function_id: z.string().optional(),
        app: z.string().optional().meta({ description: 'Name of an app: the runs of its functions' }),
        event_id: z.string().optional().meta({ description: 'Internal ID of an event: the runs it caused' }),
        queued_after: timeSchema.optional().meta({ description: 'Inclusive' }),
        queued_before: timeSchema.optional().meta({ description: 'Exclusive' }),
        fields: fieldsQuery(['output']).meta({
          description: 'output: what each function returned, which may be large',
        }),
        ...pageQuery(inTime),
      }),
      data: z.array(listedRunSchema),
      errors: [],
      async handle({
        env,
        query: { status, function_id, app, event_id, queued_after, queued_before, limit, cursor, fields },
      }) {
        const timeRange = { after: queued_after, before: queued_before, cursor };
        const query = { env, functionIds: await functionIds(env, app, function_id), status, timeRange, limit };
        const page = await (event_id === undefined ? runLists.list(query) : runLists.listByEvent(event_id, query));
        return listOfRuns(runLists.listed, env, page.runs, { next: page.next, withOutputs: fields.includes('output') });
      },
    }),
    route({
      method: 'get',
      path: '/v1/runs/:id',
      tag,
      access: 'read',
      about: 'environment',
      summary: 'Read a run with its history',
      params,
      data: detailedRunSchema,
      errors: ['not_found'],
      async handle({ env, params: { id } }) {
        const run = await runs.read(env, id);
        if (!run) throw notFound(id);
        const [history, progress] = await Promise.all([runs.history(env, id), steps.progress(env, id)]);
        const nextTryAt = time(await retries.nextAttemptAt(run, progress));
        return {
          data: {
            ...presentRun(run),
            next_try_at: nextTryAt,
            history: presentHistory(run, history, progress.pending),
          },
        };
      },
    }),
    route({
      method: 'get',
      path: '/v1/runs/:id/steps/:step_id',
      tag,
      access: 'read',
      about: 'environment',
      summary: 'Read what a finished step of a run came to',
      params: params.extend({
        step_id: z.string().meta({ description: 'Hashed ID of the step, as the history has it' }),
      }),
      data: stepSchema,
      errors: ['not_found'],
      async handle({ env, params: { id, step_id } }) {
        const memo = await steps.memo(env, id, step_id);
        if (memo === undefined) {
          throw new ServiceError('not_found', { detail: `the run "${id}" has no finished step "${step_id}"` });
        }
        return { data: presentStep(step_id, memo) };
      },
    }),
    route({
      method: 'post',
      path: '/v1/runs/:id/retry',
      tag,
      access: 'write',
      about: 'environment',
      summary: 'Do a run that has ended again',
      description:
        'Makes a new run of the same function on the same event, with no step done. While such a run is under way, asking again ' +
        'answers with it.',
      params,
      status: 201,
      data: runSchema,
      errors: ['not_found', 'run_active', 'function_archived', 'event_gone'],
      async handle({ env, params: { id } }) {
        const run = await retries.rerun(env, id, Date.now());
        if (!run) throw notFound(id);
        return { data: presentRun(run) };
      },
    }),
    route({
      method: 'post',
      path: '/v1/runs/:id/retry-now',
      tag,
      access: 'write',
      about: 'environment',
      summary: 'Make the next try of a run now',
      description:
        'Instead of when it is due. It counts as the try that it is: a run gets no more of them. Sleeps and waits are not cut short.',
      params,
      data: runSchema,
      errors: ['not_found', 'run_not_waiting'],
      async handle({ env, params: { id } }) {
        const run = await retries.retryNow(env, id);
        if (!run) throw notFound(id);
        return { data: presentRun(run) };
      },
    }),
    route({
      method: 'delete',
      path: '/v1/runs/:id',
      tag,
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

/** `/v1/runs`: lists, reads, retries, resumes, re-runs and cancels runs. */

import { z } from 'zod';
import { orNotFound, ServiceError } from '../../errors.ts';
import { functionIdsOf } from '../../jobs/bulk/selected-runs.ts';
import { type CallRef, stepCallsOf } from '../../jobs/queues/call-ref.ts';
import { nameOfPrincipal } from '../../model/auth/access.ts';
import { RUN_STATUSES, type Run, type RunStatus } from '../../model/runs/run.ts';
import type { Steps } from '../../store/runs/steps.ts';
import { textUpTo, time } from '../http/validation.ts';
import type { ApiParts } from '../parts.ts';
import { fieldsQuery, listQuery, pageQuery, timePosition } from '../rest/lists.ts';
import { type Route, routesOf } from '../rest/route.ts';
import { eventsOfRuns } from '../rest/run-events.ts';
import { LARGE_FIELDS, listedRunSchema, listOfRuns } from '../rest/run-list.ts';
import { listRuns } from '../rest/run-page.ts';
import { runFilters } from '../rest/run-selection.ts';
import { runsInStates } from '../rest/runs-in-states.ts';
import { detailedRunSchema } from '../views/detailed-run.ts';
import { presentWaiting } from '../views/limits.ts';
import { presentRun, runSchema } from '../views/run.ts';
import { presentHistory } from '../views/run-history.ts';
import { presentMetadata } from '../views/run-metadata.ts';
import { presentRunState } from '../views/run-state.ts';
import { presentFailedStep, presentStep, stepSchema } from '../views/step.ts';
import { presentTrace } from '../views/trace.ts';

const STEP_ARGUMENTS_MAX = 100;
const rerunSchema = z
  .strictObject({
    from_step: z
      .strictObject({
        step_id: textUpTo(256).describe('Hashed ID of the step, as in the history'),
        input: z
          .array(z.unknown())
          .max(STEP_ARGUMENTS_MAX)
          .optional()
          .describe(
            'New arguments for the step, in apps with the official TypeScript SDK: the arguments of `step.run` after the function',
          ),
      })
      .optional(),
  })
  .default({});

/** The calls that the run needs next. */
function nextCallsOf(
  { id: runId }: Pick<Run, 'id'>,
  { pending, done }: Awaited<ReturnType<Steps['progress']>>,
): CallRef[] {
  return [{ runId, finishedSteps: done }, ...stepCallsOf(runId, pending).filter(({ request }) => !request)];
}

const routes = routesOf({ tag: 'Runs', scope: 'environment', forApps: true });

export function runRoutes({
  ids,
  events: storedEvents,
  runs,
  runParts,
  runLists,
  listedRuns,
  searches,
  functionTables,
  steps,
  transitions,
  retries,
  runMoves,
  limitStatuses,
  traceUrlTemplate,
  runStates,
}: ApiParts): Route[] {
  return [
    routes.get('/v1/runs', {
      operationId: 'listRuns',
      summary: 'List runs',
      description:
        'Newest first, without outputs and stacks of errors unless `fields` includes them. A page may have fewer runs than its limit although more follow; only the last page has no cursor. ' +
        'A search stops after 5 s: then `metadata.stopped_early` is set, and the cursor continues from there.',
      query: z.object({
        status: listQuery(RUN_STATUSES).describe('One or more, separated by commas or repeated'),
        ...runFilters,
        fields: fieldsQuery([...LARGE_FIELDS, 'event', 'user']).describe(
          'output: includes the output of each run; error: the whole error, with its stack, cause and data; both may be large. ' +
            'event: name and gist of the event that triggered the run; user: also whom it concerns',
        ),
        ...pageQuery(timePosition),
      }),
      data: z.array(listedRunSchema),
      errors: ['searches_full'],
      async handle({
        env,
        principal,
        dialect,
        query: { status, state, app, exclude, queued_after, queued_before, cursor, fields, limit, ...filters },
      }) {
        const times = { after: queued_after, before: queued_before };
        const query = {
          env,
          principal: nameOfPrincipal(principal),
          ...filters,
          functionIds: await functionIdsOf(functionTables, env, { app, exclude, functionId: filters.function_id }),
        };
        const read = (
          statuses: readonly RunStatus[] | undefined,
          from: typeof cursor,
          limit: number,
          isPaused = false,
        ) => {
          const wanted = { ...query, statuses, isPaused, timeRange: { ...times, cursor: from }, limit };
          return listRuns({ runLists, searches }, wanted, Date.now());
        };
        const page = await (state
          ? runsInStates(read, runStates, { states: state, statuses: status, cursor, limit })
          : read(status, cursor, limit));
        const hasUser = fields.includes('user');
        const hasEvent = hasUser || fields.includes('event');
        const events = hasEvent ? await eventsOfRuns(storedEvents, env, page.found, hasUser) : undefined;
        return listOfRuns({ listedRuns, runStates }, env, page.found, {
          next: page.next,
          stoppedEarly: page.stoppedEarly,
          fields: LARGE_FIELDS.filter((field) => fields.includes(field)),
          events,
          dialect,
        });
      },
    }),
    routes.get('/v1/runs/:id', {
      operationId: 'getRun',
      summary: 'Get a run with its history',
      data: detailedRunSchema,
      async handle({ env, dialect, params: { id } }) {
        const run = orNotFound(await runs.read(env, id), 'run', id);
        const [history, progress, metadata, states] = await Promise.all([
          runParts.read(env, id, 'history'),
          steps.progress(env, id),
          runParts.read(env, id, 'metadata'),
          runStates.of([run]),
        ]);
        const waiting = await limitStatuses.waiting(run, nextCallsOf(run, progress));
        // A retry that waits for a limit has no job in the queue.
        const nextTryAt = waiting ? null : time(await retries.nextAttemptAt(run, progress));
        return {
          data: {
            ...presentRun(run, dialect),
            state: presentRunState(states.get(id) ?? { kind: 'running' }),
            next_try_at: nextTryAt,
            history: presentHistory(ids, run, history, progress.pending),
            waiting: waiting ? presentWaiting(waiting) : null,
            fingerprint: run.fingerprint ?? null,
            failed_step: presentFailedStep(run, history),
            metadata: metadata.map(presentMetadata),
            ...presentTrace(run, traceUrlTemplate),
          },
        };
      },
    }),
    routes.get('/v1/runs/:id/steps/:step_id', {
      operationId: 'getRunStep',
      summary: 'Get the result of a finished step',
      params: z.object({
        id: z.string(),
        step_id: z.string().describe('Hashed ID of the step, as in the history'),
      }),
      data: stepSchema,
      async handle({ env, params: { id, step_id } }) {
        const memo = await steps.memo(env, id, step_id);
        if (memo === undefined) {
          throw new ServiceError('not_found', {
            detail: `the run "${id}" has no finished step with the ID "${step_id}"`,
          });
        }
        return { data: presentStep(step_id, memo) };
      },
    }),
    routes.post('/v1/runs/:id/retry', {
      operationId: 'rerunRun',
      summary: 'Re-run a finished run',
      description:
        'Creates a new run of the same function on the same event, without finished steps. With `from_step`, the new run starts at that step and ' +
        'keeps the results of the steps that finished before it. While the new run is active, repeating the request returns it.',
      body: rerunSchema,
      status: 201,
      data: runSchema,
      errors: ['not_found', 'run_active', 'function_archived', 'event_gone'],
      async handle({ env, params: { id }, body: { from_step } }) {
        const { step_id, input } = from_step ?? {};
        const fromStep = step_id === undefined ? undefined : { id: step_id, ...(input && { input }) };
        return { data: presentRun(orNotFound(await retries.rerun(env, id, Date.now(), fromStep), 'run', id)) };
      },
    }),
    routes.post('/v1/runs/:id/retry-now', {
      operationId: 'retryRunNow',
      summary: 'Retry a run now',
      description:
        'Starts the next attempt at once instead of when it is due. It counts as a regular attempt. Sleeps and waits are not shortened.',
      data: runSchema,
      errors: ['not_found', 'run_not_waiting'],
      async handle({ env, params: { id } }) {
        return { data: presentRun(orNotFound(await retries.retryNow(env, id), 'run', id)) };
      },
    }),
    routes.post('/v1/runs/:id/move', {
      operationId: 'moveRun',
      summary: 'Move a run to another version of its app',
      description:
        'A call in flight goes on, and its result counts; the next call is for the other version, with the results of all steps so far.',
      body: z.object({
        version: textUpTo(256)
          .nullable()
          .describe('The version on which the run ends; null: it continues with the active one'),
      }),
      data: runSchema,
      errors: ['not_found', 'run_ended', 'version_unknown'],
      async handle({ env, dialect, params: { id }, body: { version } }) {
        const moved = await runMoves.move(env, id, version ?? undefined);
        if (moved) return { data: presentRun(moved, dialect) };
        const run = orNotFound(await runs.read(env, id), 'run', id);
        throw new ServiceError('run_ended', { detail: `its status is ${run.status}` });
      },
    }),
    routes.post('/v1/runs/:id/resume', {
      operationId: 'resumeRun',
      summary: 'Resume a paused run',
      description:
        'The run goes on where it stopped, with all attempts anew: the step that failed runs again, or the function is called again. Finished steps stay.',
      data: runSchema,
      errors: ['not_found', 'run_not_paused'],
      async handle({ env, params: { id } }) {
        return { data: presentRun(orNotFound(await retries.resume(env, id, Date.now()), 'run', id)) };
      },
    }),
    routes.post('/v1/runs/:id/fail', {
      operationId: 'failRun',
      summary: 'Give up a paused run',
      description:
        'The run fails with the error of its pause, and what follows a failure follows: the event about it, failure handlers, the step that invoked it.',
      data: runSchema,
      errors: ['not_found', 'run_not_paused'],
      async handle({ env, params: { id } }) {
        return { data: presentRun(orNotFound(await retries.giveUp(env, id), 'run', id)) };
      },
    }),
    routes.delete('/v1/runs/:id', {
      operationId: 'cancelRun',
      summary: 'Cancel a run',
      description: 'A call in flight is not aborted; its response is ignored. Cancelling again has no further effect.',
      data: runSchema,
      errors: ['not_found', 'run_ended'],
      async handle({ env, dialect, principal, params: { id } }) {
        const by = { kind: principal.kind, id: principal.id, name: principal.name };
        const cancelled = await transitions.cancel(env, id, { cause: 'request', by });
        // The run may no longer be in Redis.
        const run = orNotFound(cancelled ?? (await runs.read(env, id)), 'run', id);
        if (run.status !== 'Cancelled') throw new ServiceError('run_ended', { detail: `its status is ${run.status}` });
        return { data: presentRun(run, dialect) };
      },
    }),
  ];
}

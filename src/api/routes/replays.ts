/** `/v1/replays`: runs functions again on past events. */
import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import { previewReplay } from '../../jobs/replays/dry-run.ts';
import { BULK_OPERATION_STATUSES, STATUS_CHANGES } from '../../model/bulk/bulk-operation.ts';
import { newId } from '../../model/ids.ts';
import type { Replay, ReplayResult, ReplaySelection } from '../../model/replays/replay.ts';
import { describe } from '../../model/values/json.ts';
import type { ApiParts } from '../parts.ts';
import { listQuery, namePosition, nextPage, pageQuery } from '../rest/lists.ts';
import { replayBodySchema, replaySelectionOf } from '../rest/replay-selection.ts';
import { type Route, routesOf } from '../rest/route.ts';
import {
  presentDryRun,
  presentReplay,
  presentReplayResult,
  replayDryRunSchema,
  replayResultSchema,
  replaySchema,
} from '../views/replay.ts';
import { operationRoutes } from './bulk-operation.ts';

/** Maximum number of concurrent dry runs per process: each keeps the process busy for seconds. */
const DRY_RUNS_AT_ONCE = 4;
const RETRY_AFTER_SECONDS = 5;
/** Maximum number of results examined for a filtered page, which is short if few match. */
const RESULTS_READ_AT_ONCE = 1_000;
const RESULT_READS = 20;

const CANCEL_WITH_RUNS = { to: 'cancelling', from: ['running', 'paused', 'cancelled', 'done'] } as const;

const params = z.object({ id: z.string().max(64) });
const notFound = (id: string) =>
  new ServiceError('not_found', { detail: `there is no replay with the ID ${describe(id)}` });

const routes = routesOf({ tag: 'Replays', scope: 'environment' });

export function replayRoutes(deps: ApiParts): Route[] {
  const { replays, replayPlanner, runLists, environments } = deps;
  let dryRuns = 0;

  async function runDry(selection: ReplaySelection) {
    if (dryRuns >= DRY_RUNS_AT_ONCE) {
      const detail = `${DRY_RUNS_AT_ONCE} dry runs are in progress`;
      throw new ServiceError('overloaded', { detail, retryAfterSeconds: RETRY_AFTER_SECONDS });
    }
    dryRuns++;
    try {
      return presentDryRun(selection, await previewReplay(selection, replayPlanner));
    } finally {
      dryRuns--;
    }
  }

  async function read(env: string, id: string): Promise<Replay> {
    const replay = await replays.read(env, id);
    if (!replay) throw notFound(id);
    return replay;
  }

  const of = operationRoutes({
    routes,
    path: '/v1/replays/:id',
    params,
    name: 'Replay',
    noun: 'replay',
    plural: 'replays',
    data: replaySchema,
    present: presentReplay,
    store: replays,
    read: (env, { id }) => read(env, id),
    refusal: ({ status }) => new ServiceError('replay_ended', { detail: `its status is ${status}` }),
  });

  return [
    routes.post('/v1/replays', {
      operationId: 'createReplay',
      summary: 'Replay events',
      description:
        'Runs functions again on past events, from the oldest to the newest, in the background. Which runs start depends on how the latest run of the ' +
        'function on the event ended. With `dry_run`, nothing starts, and the response has status 200 and says what would start.',
      body: replayBodySchema,
      status: 201,
      dryRunStatus: 200,
      data: z.union([replaySchema, replayDryRunSchema]),
      errors: ['archive_unavailable', 'environment_archived', 'not_found', 'overloaded', 'quota_exceeded'],
      async handle({ env, body }) {
        const now = Date.now();
        const selection = await replaySelectionOf(env, body, now, deps);
        if (body.dry_run) return { status: 200, audited: false, data: await runDry(selection) };
        if ((await environments.read(env))?.archivedAt !== undefined) throw new ServiceError('environment_archived');
        const id = newId(now);
        const { name, rate } = body;
        const definition = { ...selection, id, ...(name && { name }), rate, createdAt: now };
        await replays.add(env, definition, { position: { at: selection.after } });
        return { data: presentReplay(await read(env, id)) };
      },
    }),
    of.list({
      description: 'Newest first. At most 1,000 are kept, for the retention but at most 30 days.',
      query: z.object({
        status: listQuery(BULK_OPERATION_STATUSES).describe('One or more, separated by commas or repeated'),
        ...pageQuery(namePosition),
      }),
      async find({ env, query: { status: statuses, limit, cursor: before } }) {
        const found = await replays.list(env, { before, limit: limit + 1, statuses });
        const page = found.slice(0, limit);
        return { page, next: found.length > limit ? page.at(-1)?.id : undefined };
      },
    }),
    of.get(),
    routes.get('/v1/replays/:id/results', {
      operationId: 'listReplayResults',
      summary: 'List the results of a replay',
      description:
        'One result for each event and function, in the order of events: the first 100,000 results, including at most 50,000 skipped ones. With `outcome`, a ' +
        'page may have fewer results than its limit although more follow; only the last page has no cursor.',
      params,
      query: z.object({
        outcome: listQuery(['started', 'skipped', 'failed']).describe('One or more, separated by commas or repeated'),
        ...pageQuery(z.int().min(0)),
      }),
      data: z.array(replayResultSchema),
      errors: ['archive_unavailable', 'not_found'],
      async handle({ env, params: { id }, query: { outcome, limit, cursor = 0 } }) {
        await read(env, id);
        const { page, next } = await pageOfResults(env, id, { outcome, limit, from: cursor });
        const eventIds = [...new Set(page.flatMap(({ eventId, runId }) => (runId === undefined ? [] : [eventId])))];
        const runs = (await runLists.briefsByEvent(env, eventIds)).flat();
        const statuses = new Map(runs.map((run) => [run.id, run.status]));
        const data = page.map((result) => presentReplayResult(result, statuses));
        return { data, metadata: nextPage(next) };
      },
    }),
    ...of.changes({ pause: 'The replay starts no more runs until it is resumed. Runs that it started continue.' }, [
      'pause',
      'resume',
    ]),
    routes.post('/v1/replays/:id/cancel', {
      operationId: 'cancelReplay',
      summary: 'Cancel a replay',
      description:
        'The replay starts no more runs. Runs that it started continue unless `cancel_runs` is true, which also works on a replay that is done.',
      params,
      body: z
        .strictObject({
          cancel_runs: z.boolean().default(false).describe("true: also cancels the replay's active runs"),
        })
        .default({ cancel_runs: false }),
      data: replaySchema,
      errors: ['not_found', 'replay_ended'],
      handle: ({ env, params: given, body: { cancel_runs } }) =>
        of.change(env, given, cancel_runs ? CANCEL_WITH_RUNS : STATUS_CHANGES.cancel),
    }),
  ];

  async function pageOfResults(
    env: string,
    id: string,
    { outcome, limit, from }: { outcome: ReplayResult['outcome'][] | undefined; limit: number; from: number },
  ): Promise<{ page: ReplayResult[]; next: number | undefined }> {
    const page: ReplayResult[] = [];
    const atOnce = outcome === undefined ? limit + 1 : RESULTS_READ_AT_ONCE;
    let at = from;
    for (let reading = 0; reading < RESULT_READS; reading++) {
      const read = await replays.results<ReplayResult>({ env, id }, { from: at, limit: atOnce });
      for (const result of read) {
        if (page.length === limit) return { page, next: at };
        at++;
        if (outcome === undefined || outcome.includes(result.outcome)) page.push(result);
      }
      if (read.length < atOnce) return { page, next: undefined };
    }
    return { page, next: at };
  }
}

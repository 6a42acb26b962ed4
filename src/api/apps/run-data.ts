/** `/v0/runs/:id/…`: the event and the steps of a run, for an app whose call request was too large to carry them (docs/protocol.md). */
import { ServiceError } from '../../errors.ts';
import type { History } from '../../history/history.ts';
import { receivedEventOf } from '../../model/events/event.ts';
import { withStepInput } from '../../model/runs/step-input.ts';
import type { Context, Router } from '../http/router.ts';
import { type AppGuardDeps, appGuard, existingEnvironment } from './app-requests.ts';

export type RunDataRouteDeps = AppGuardDeps & Pick<History, 'runs' | 'runParts' | 'events'>;

export function runDataRoutes(router: Router, deps: RunDataRouteDeps): void {
  const { runs, runParts, events, environments } = deps;
  const guard = appGuard(deps);
  const envOf = (ctx: Context) => existingEnvironment(ctx, environments);

  router.get('/v0/runs/:id/batch', guard, async (ctx) => {
    const { id } = ctx.params;
    const env = await envOf(ctx);
    const run = await runs.read(env, id);
    const stored = run ? await events.records(env, run.batch ?? [run.eventId]) : [];
    const batch = stored.filter((event) => event !== undefined);
    if (batch.length === 0) throw notFound(id);
    ctx.body = batch.map(receivedEventOf);
  });

  router.get('/v0/runs/:id/actions', guard, async (ctx) => {
    const { id } = ctx.params;
    const env = await envOf(ctx);
    const run = await runs.read(env, id);
    if (!run) throw notFound(id);
    ctx.body = withStepInput(await runParts.read(env, id, 'memos'), run.fromStep);
  });
}

function notFound(id: string): ServiceError {
  return new ServiceError('not_found', { detail: `there is no run with the ID "${id}", or its event is gone` });
}

/** What a call request was too large to carry: an app fetches it here (docs/protocol.md#large-calls). */
import type Router from '@koa/router';
import type { Context } from 'koa';
import type { Config } from '../../config.ts';
import { ServiceError } from '../../errors.ts';
import { payloadOf } from '../../model/events/event.ts';
import type { Store } from '../../store/store.ts';
import { appGuard } from './app-authentication.ts';
import { existingEnvironment } from './app-environment.ts';

export function appDataRoutes(
  router: Router,
  config: Config,
  {
    runs,
    steps,
    events,
    signingKeys,
    environments,
  }: Pick<Store, 'runs' | 'steps' | 'events' | 'signingKeys' | 'environments'>,
): void {
  const envOf = ({ req }: Context) => existingEnvironment(req.headers, environments);
  const guard = appGuard(config, signingKeys, environments) as never;

  router.get('/v0/runs/:id/batch', guard, async (ctx) => {
    const id = runIdOf(ctx as unknown as Context);
    const env = await envOf(ctx as unknown as Context);
    const run = await runs.read(env, id);
    const event = run && (await events.record(env, run.eventId));
    if (!event) throw notFound(id);
    ctx.body = [payloadOf(event)];
  });

  router.get('/v0/runs/:id/actions', guard, async (ctx) => {
    const id = runIdOf(ctx as unknown as Context);
    const env = await envOf(ctx as unknown as Context);
    if (!(await runs.read(env, id))) throw notFound(id);
    ctx.body = await steps.memos(env, id);
  });
}

function runIdOf(ctx: Context): string {
  return (ctx as Context & { params: { id: string } }).params.id;
}

function notFound(id: string): ServiceError {
  return new ServiceError('not_found', { detail: `no run with its event is stored under "${id}"` });
}

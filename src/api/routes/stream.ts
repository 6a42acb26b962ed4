/** `GET /v1/stream`: what happens in an environment, as it happens. The one route of the API whose answer does not end. */
import Router from '@koa/router';
import type { Context } from 'koa';
import { z } from 'zod';
import type { Config } from '../../config.ts';
import { ServiceError } from '../../errors.ts';
import { PRODUCTION } from '../../model/environment.ts';
import { describe } from '../../model/values/json.ts';
import type { Store } from '../../store/store.ts';
import { allow, environmentOf } from '../auth/guard.ts';
import { Principals, principalOf } from '../auth/principals.ts';
import type { LiveStreams } from '../rest/live-streams.ts';
import { check, ownParameters } from '../rest/route.ts';

const NO_PARAMETERS = z.strictObject({});
const RULE = { access: 'read', about: 'environment' } as const;
const RETRY_AFTER_SECONDS = 5;

type Deps = Pick<Store, 'apiKeys' | 'sessions' | 'environments'>;

export function streamRoute(config: Config, { environments, ...store }: Deps, streams: LiveStreams): Router {
  const callers = new Principals(config, store);
  const router = new Router();
  router.get('/v1/stream', async (context) => {
    const ctx = context as unknown as Context;
    allow(ctx, RULE);
    check(NO_PARAMETERS, ownParameters(ctx.query), 'query parameter');
    const env = environmentOf(ctx);
    if (env !== PRODUCTION && !(await environments.findOrFetch(env))) {
      throw new ServiceError('environment_unknown', { detail: `got ${describe(env)}` });
    }
    const stream = streams.open({
      env,
      ofAccount: principalOf(ctx).environment === undefined,
      mayWatch: () => mayStillWatch(ctx, callers),
    });
    if (!stream) {
      throw new ServiceError('overloaded', { detail: 'too many watch', retryAfterSeconds: RETRY_AFTER_SECONDS });
    }
    ctx.type = 'text/event-stream';
    // nginx would gather what is to go out at once.
    ctx.set('x-accel-buffering', 'no');
    // Its connection would be kept for further requests, and keep web from ending.
    ctx.set('connection', 'close');
    ctx.body = stream;
  });
  return router;
}

/** The session may have ended, the key may be gone, the user may be another's now. */
async function mayStillWatch(ctx: Context, callers: Principals): Promise<boolean> {
  const caller = await callers.of(ctx);
  if (!caller) return false;
  ctx.state.caller = caller;
  try {
    allow(ctx, RULE);
    return true;
  } catch {
    return false;
  }
}

/** `GET /v1/stream`: live updates of an environment as server-sent events. It is the only route of the API whose response does not end. */
import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import { PRODUCTION } from '../../model/environment.ts';
import { describe } from '../../model/values/json.ts';
import type { Environments } from '../../store/environments/environments.ts';
import { allow, environmentOf } from '../auth/guard.ts';
import { type Principals, principalOf } from '../auth/principals.ts';
import { acceptsGzipStream } from '../http/compression.ts';
import { type Context, Router } from '../http/router.ts';
import { ownParameters, validate } from '../http/validation.ts';
import type { LiveStreams } from '../rest/live-streams.ts';

const NO_PARAMETERS = z.strictObject({});
const ACCESS_RULE = { access: 'read', scope: 'environment' } as const;
const RETRY_AFTER_SECONDS = 5;

export interface StreamRouteDeps {
  environments: Environments;
  liveStreams: LiveStreams;
}

export function streamRoute(principals: Principals, { environments, liveStreams }: StreamRouteDeps): Router {
  const router = new Router();
  router.get('/v1/stream', async (ctx) => {
    allow(ctx, ACCESS_RULE);
    validate(NO_PARAMETERS, ownParameters(ctx.query), 'query parameter');
    const env = environmentOf(ctx);
    if (env !== PRODUCTION && !(await environments.findOrFetch(env))) {
      throw new ServiceError('environment_unknown', { detail: `got ${describe(env)}` });
    }
    const gzip = acceptsGzipStream(ctx);
    const { kind, id, environment } = principalOf(ctx);
    const stream = liveStreams.open({
      gzip,
      env,
      principal: `${kind}:${id}`,
      seesInstallation: environment === undefined,
      isAllowed: () => isStillAllowed(ctx, principals),
    });
    if (!stream) {
      throw new ServiceError('overloaded', {
        detail: 'too many clients follow live updates',
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    }
    ctx.type = 'text/event-stream';
    ctx.vary('accept-encoding');
    if (gzip) ctx.set('content-encoding', 'gzip');
    // Without this header, nginx buffers the messages.
    ctx.set('x-accel-buffering', 'no');
    // A connection kept alive after the stream would delay the shutdown of web.
    ctx.set('connection', 'close');
    ctx.body = stream;
  });
  return router;
}

/** The session may have ended, the key may have been revoked, another user may have signed in. */
async function isStillAllowed(ctx: Context, principals: Principals): Promise<boolean> {
  const principal = await principals.of(ctx);
  if (!principal) return false;
  ctx.state.principal = principal;
  try {
    allow(ctx, ACCESS_RULE);
    return true;
  } catch {
    return false;
  }
}

/** `GET /v1/stream`: live updates of an environment as server-sent events. It is the only route of the API whose response does not end. */
import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import { accessToAll, covers } from '../../model/auth/access.ts';
import { PRODUCTION, refOf } from '../../model/environment.ts';
import { describe } from '../../model/values/json.ts';
import type { Store } from '../../store/store.ts';
import { allow, environmentOf } from '../auth/guard.ts';
import { type Principals, principalOf } from '../auth/principals.ts';
import { acceptsGzipStream } from '../http/compression.ts';
import { Router } from '../http/router.ts';
import { ownParameters, validate } from '../http/validation.ts';
import type { LiveStreams } from '../rest/live-streams.ts';

const NO_PARAMETERS = z.strictObject({});
const ACCESS_RULE = { access: 'read', scope: 'environment' } as const;
const RETRY_AFTER_SECONDS = 5;

export interface StreamRouteDeps extends Pick<Store, 'environments'> {
  liveStreams: LiveStreams;
}

export function streamRoute(principals: Principals, { environments, liveStreams }: StreamRouteDeps): Router {
  const router = new Router();
  router.get('/v1/stream', async (ctx) => {
    const env = environmentOf(ctx);
    const isAllowed = async () => {
      allow(ctx, ACCESS_RULE, refOf(env, await environments.findOrFetch(env)));
      return covers(accessToAll(principalOf(ctx)), 'read');
    };
    const seesInstallation = await isAllowed();
    validate(NO_PARAMETERS, ownParameters(ctx.query), 'query parameter');
    if (env !== PRODUCTION && !(await environments.findOrFetch(env))) {
      throw new ServiceError('environment_unknown', { detail: `got ${describe(env)}` });
    }
    const gzip = acceptsGzipStream(ctx);
    const { kind, id } = principalOf(ctx);
    const stream = liveStreams.open({
      gzip,
      env,
      principal: `${kind}:${id}`,
      seesInstallation,
      /** The session may have ended, the key may have been revoked, the role may be another, another user may have signed in. */
      async isAllowed() {
        ctx.state.principal = await principals.of(ctx);
        return isAllowed().then(
          (sees) => sees || !seesInstallation,
          () => false,
        );
      },
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

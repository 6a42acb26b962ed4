/** Limits how many requests an API key or an app may send to the REST API, with the headers of draft-ietf-httpapi-ratelimit-headers. Sessions of people
 *  are not limited; neither are `POST /e/` and webhooks, which have limits of their own. */
import { ServiceError } from '../../errors.ts';
import type { PrincipalKind } from '../../model/auth/access.ts';
import { type ApiRateLimits, WINDOW_SECONDS } from '../../store/auth/api-rate-limits.ts';
import type { Context, Middleware } from './router.ts';

const LIMITED: ReadonlySet<PrincipalKind> = new Set(['api-key', 'setting', 'signing-key']);
const POLICY = 'api-key';

/** Runs when the principal is known. */
export function limitRequests(limits: ApiRateLimits): Middleware {
  return async (ctx: Context, next) => {
    const { principal } = ctx.state;
    if (!principal || !LIMITED.has(principal.kind)) return next();
    const state = await limits.count(`${principal.kind}:${principal.id}`);
    if (!state) return next();
    const { limit, remaining, resetMs, isExceeded } = state;
    const resetSeconds = Math.max(1, Math.ceil(resetMs / 1_000));
    ctx.set('ratelimit-policy', `"${POLICY}";q=${limit};w=${WINDOW_SECONDS}`);
    ctx.set('ratelimit', `"${POLICY}";r=${Math.max(0, remaining)};t=${resetSeconds}`);
    if (!isExceeded) return next();
    throw new ServiceError('api_rate_exceeded', {
      detail: `${limit} per minute are allowed`,
      facts: { allowed: limit, window_seconds: WINDOW_SECONDS },
      retryAfterSeconds: resetSeconds,
    });
  };
}

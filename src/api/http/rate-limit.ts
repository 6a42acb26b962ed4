/** Limits the requests of an API key, an app or a user to the REST API, with the headers of draft-ietf-httpapi-ratelimit-headers. `POST
 *  /e/` and webhooks have limits of their own. */
import { ServiceError } from '../../errors.ts';
import { nameOfPrincipal, type PrincipalKind } from '../../model/auth/access.ts';
import { type ApiRateLimits, WINDOW_SECONDS } from '../../store/auth/api-rate-limits.ts';
import type { Context, Middleware } from './router.ts';

const POLICIES: Partial<Record<PrincipalKind, 'api-key' | 'user'>> = {
  'api-key': 'api-key',
  setting: 'api-key',
  'signing-key': 'api-key',
  user: 'user',
};

/** For programs, and for users with all their sessions together. */
export type RequestLimits = Record<'api-key' | 'user', ApiRateLimits>;

/** Runs after authentication. */
export function limitRequests(limits: RequestLimits): Middleware {
  return async (ctx, next) => {
    await countRequests(ctx, 1, limits);
    await next();
  };
}

/** @throws ServiceError api_rate_exceeded */
export async function countRequests(ctx: Context, count: number, limits: RequestLimits): Promise<void> {
  const { principal } = ctx.state;
  const policy = principal && POLICIES[principal.kind];
  const state = policy && (await limits[policy].count(nameOfPrincipal(principal), count));
  if (!state) return;
  const { limit, remaining, resetMs, isExceeded } = state;
  const resetSeconds = Math.max(1, Math.ceil(resetMs / 1_000));
  ctx.set('ratelimit-policy', `"${policy}";q=${limit};w=${WINDOW_SECONDS}`);
  ctx.set('ratelimit', `"${policy}";r=${Math.max(0, remaining)};t=${resetSeconds}`);
  if (!isExceeded) return;
  throw new ServiceError('api_rate_exceeded', {
    detail: `${limit} per minute are allowed`,
    facts: { allowed: limit, window_seconds: WINDOW_SECONDS },
    retryAfterSeconds: resetSeconds,
  });
}

/** What every answer tells a browser it may not do with it. Pages relax the policy to what they need (page.ts, board.ts). */
import type { Context, Next } from 'koa';
import { isSecure } from '../auth/session-cookie.ts';

const HEADERS = {
  'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  // Not no-referrer: under that browsers do not tell the origin of a form either.
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};
/** Paths are the same in capitals (the router's rule). Answers that hold what not everybody may see, and pages with a token in them. Files of the dashboard say themselves how long they last. */
const PRIVATE = /^\/(?:auth|e|fn|openapi\.json|set-password|set-up|sign-in|v0|v1)(?:\/|$)/i;
const A_YEAR = 'max-age=31536000; includeSubDomains';

export function securityHeaders(publicUrl: string | undefined) {
  return async (ctx: Context, next: Next): Promise<void> => {
    ctx.set(HEADERS);
    if (PRIVATE.test(ctx.path)) ctx.set('cache-control', 'no-store');
    if (isSecure(ctx, publicUrl)) ctx.set('strict-transport-security', A_YEAR);
    await next();
  };
}

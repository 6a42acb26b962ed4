/** Blocks cross-site requests (CSRF). Browsers add the session cookie to requests of any site, but also headers that name the site and
 *  that no page can set. */
import { ServiceError } from '../../errors.ts';
import { isJsonType, mediaTypeOf } from '../http/body.ts';
import type { Context } from '../http/router.ts';

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

export function isSafeMethod(ctx: Context): boolean {
  return SAFE_METHODS.has(ctx.method);
}

/** @throws ServiceError origin_untrusted */
export function requireSameOrigin(ctx: Context, publicUrl: string | undefined): void {
  if (!isSameOrigin(ctx, publicUrl)) throw untrusted('send it from a page of this service');
}

/** Rejects requests to the API with a session unless they come from the same origin and have a content type that no HTML form can send.
 *  @throws ServiceError origin_untrusted */
export function requireOwnScript(ctx: Context, publicUrl: string | undefined): void {
  requireSameOrigin(ctx, publicUrl);
  const mediaType = mediaTypeOf(ctx.get('content-type'));
  if (mediaType !== '' && !isJsonType(mediaType)) throw untrusted(`got "${mediaType}"; send application/json`);
}

function isSameOrigin(ctx: Context, publicUrl: string | undefined): boolean {
  const origin = ctx.get('origin');
  if (origin === '') return ctx.get('sec-fetch-site') === 'same-origin';
  return (
    origin === `${ctx.protocol}://${ctx.host}` || (publicUrl !== undefined && origin === new URL(publicUrl).origin)
  );
}

const BASE = 'http://here.invalid';

/** Prevents open redirects after signing in.
 *  @returns the path and query of the target; "/" when it is not a path of this service */
export function safeRedirect(target: unknown): string {
  if (typeof target !== 'string' || !target.startsWith('/') || !URL.canParse(target, BASE)) return '/';
  const { origin, pathname, search } = new URL(target, BASE);
  // "//other.example", and texts that browsers treat like it ("/\other.example"), have another origin or a path that begins with "//".
  return origin === BASE && !pathname.startsWith('//') ? pathname + search : '/';
}

function untrusted(detail: string): ServiceError {
  return new ServiceError('origin_untrusted', { detail });
}

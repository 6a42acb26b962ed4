/** The session cookie. Scripts cannot read it; cross-site requests other than plain links do not carry it; with https, no other host can
 *  set it. */
import type { Context } from '../http/router.ts';

const PLAIN_NAME = 'session';
const SECURE_NAME = '__Host-session';
const ATTRIBUTES = 'Path=/; HttpOnly; SameSite=Lax';

/** @param secure whether browsers reach the service over https, even if this connection is not */
export function readSessionCookie(ctx: Pick<Context, 'cookies'>, secure: boolean): string | undefined {
  return ctx.cookies.get(secure ? SECURE_NAME : PLAIN_NAME);
}

export function setSessionCookie(ctx: Context, secure: boolean, token: string): void {
  ctx.append(
    'set-cookie',
    secure ? `${SECURE_NAME}=${token}; ${ATTRIBUTES}; Secure` : `${PLAIN_NAME}=${token}; ${ATTRIBUTES}`,
  );
}

export function clearSessionCookie(ctx: Context, secure: boolean): void {
  setSessionCookie(ctx, secure, '; Max-Age=0');
}

/** The session cookie: no script reads it, no other site's request carries it but a plain link's, and over https no other host sets it. */
import type { Context } from 'koa';

const PLAIN_NAME = 'session';
const SECURE_NAME = '__Host-session';
const ATTRIBUTES = 'Path=/; HttpOnly; SameSite=Lax';

/** @param secure whether browsers reach the service by https, whatever this connection is */
export function readSessionCookie(ctx: Context, secure: boolean): string | undefined {
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

export function isSecure(ctx: Context, publicUrl: string | undefined): boolean {
  return ctx.secure || publicUrl?.startsWith('https:') === true;
}

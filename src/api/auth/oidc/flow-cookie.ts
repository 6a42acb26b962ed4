/** The cookie of a single sign-on in progress, sealed: the callback counts only in the browser that began. Lax, because the provider's page leads to
 *  the callback. */
import { FLOW_LIFETIME_MS } from '../../../store/auth/sign-in-flows.ts';
import type { Context } from '../../http/router.ts';

const PLAIN_NAME = 'sign-in';
const SECURE_NAME = '__Host-sign-in';

export function readFlowCookie(ctx: Context, secure: boolean): string | undefined {
  return ctx.cookies.get(secure ? SECURE_NAME : PLAIN_NAME);
}

/** @param sealed empty: deletes the cookie */
export function setFlowCookie(ctx: Context, secure: boolean, sealed: string): void {
  const maxAge = sealed === '' ? 0 : FLOW_LIFETIME_MS / 1_000;
  const attributes = `Path=/; HttpOnly; SameSite=Lax; Max-Age=${maxAge}`;
  ctx.append(
    'set-cookie',
    secure ? `${SECURE_NAME}=${sealed}; ${attributes}; Secure` : `${PLAIN_NAME}=${sealed}; ${attributes}`,
  );
}

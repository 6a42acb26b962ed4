/** Cookies of this service. Scripts cannot read them; with https, no other host can set them. */
import { PENDING_LIFETIME_MS } from '../../store/auth/pending-sign-ins.ts';
import { FLOW_LIFETIME_MS } from '../../store/auth/sign-in-flows.ts';
import type { Context } from '../http/router.ts';

interface Attributes {
  /** Lax: browsers send the cookie with plain links of other sites, too. */
  sameSite: 'Lax' | 'Strict';
  /** undefined: the cookie lives until the browser closes. */
  lifetimeMs?: number;
}

/** `secure`: whether browsers reach the service over https, even if this connection is not. */
export class HostCookie {
  readonly #name: string;
  readonly #attributes: Attributes;

  constructor(name: string, attributes: Attributes) {
    this.#name = name;
    this.#attributes = attributes;
  }

  read(ctx: Pick<Context, 'cookies'>, secure: boolean): string | undefined {
    return ctx.cookies.get(this.#nameOf(secure));
  }

  set(ctx: Context, secure: boolean, value: string): void {
    const { lifetimeMs } = this.#attributes;
    this.#write(ctx, secure, lifetimeMs === undefined ? value : `${value}; Max-Age=${lifetimeMs / 1_000}`);
  }

  clear(ctx: Context, secure: boolean): void {
    this.#write(ctx, secure, '; Max-Age=0');
  }

  #write(ctx: Context, secure: boolean, value: string): void {
    const attributes = `Path=/; HttpOnly; SameSite=${this.#attributes.sameSite}${secure ? '; Secure' : ''}`;
    ctx.append('set-cookie', `${this.#nameOf(secure)}=${value}; ${attributes}`);
  }

  #nameOf(secure: boolean): string {
    return secure ? `__Host-${this.#name}` : this.#name;
  }
}

export const SESSION_COOKIE = new HostCookie('session', { sameSite: 'Lax' });
/** A single sign-on in progress, sealed: the callback counts only in the browser that began. Lax, because the provider's page leads to it. */
export const FLOW_COOKIE = new HostCookie('sign-in', { sameSite: 'Lax', lifetimeMs: FLOW_LIFETIME_MS });
/** A sign-in that still needs a second factor. */
export const PENDING_COOKIE = new HostCookie('pending-sign-in', {
  sameSite: 'Strict',
  lifetimeMs: PENDING_LIFETIME_MS,
});

/** The session of the browser that sends a request. */
import type { User } from '../../model/auth/user.ts';
import { Composed } from '../../model/values/composed.ts';
import type { ProviderSession, Sessions, StartedSession } from '../../store/auth/sessions.ts';
import { clientAddress } from '../http/incoming-request.ts';
import { type Context, isSecure } from '../http/router.ts';
import { SESSION_COOKIE } from './host-cookie.ts';

const USER_AGENT_MAX = 256;

export class BrowserSessions extends Composed<{ sessions: Sessions; publicUrl: string | undefined }> {
  async userOf(ctx: Context): Promise<User | undefined> {
    const token = this.tokenOf(ctx);
    return token === undefined ? undefined : this.deps.sessions.userOf(token, Date.now());
  }

  tokenOf(ctx: Context): string | undefined {
    return SESSION_COOKIE.read(ctx, isSecure(ctx, this.deps.publicUrl)) || undefined;
  }

  /** Signs in. A session that the browser had ends: its cookie could be somebody else's. */
  async start(ctx: Context, user: User, of?: ProviderSession): Promise<void> {
    const before = this.tokenOf(ctx);
    if (before !== undefined) await this.deps.sessions.end(before);
    await this.#begin(ctx, user, of);
  }

  /** Gives this browser another session, of the same session at the provider, after a change that ended all sessions of the user. */
  async renew(ctx: Context, user: User): Promise<void> {
    const before = this.tokenOf(ctx);
    const ended = before === undefined ? undefined : await this.deps.sessions.end(before);
    await this.#begin(ctx, user, ended?.userId === user.id ? ended.of : undefined);
  }

  async end(ctx: Context): Promise<StartedSession | undefined> {
    const token = this.tokenOf(ctx);
    SESSION_COOKIE.clear(ctx, isSecure(ctx, this.deps.publicUrl));
    return token === undefined ? undefined : this.deps.sessions.end(token);
  }

  async #begin(ctx: Context, user: User, of: ProviderSession | undefined): Promise<void> {
    const userAgent = ctx.get('user-agent').slice(0, USER_AGENT_MAX);
    const token = await this.deps.sessions.start(user, { address: clientAddress(ctx), userAgent, of }, Date.now());
    SESSION_COOKIE.set(ctx, isSecure(ctx, this.deps.publicUrl), token);
  }
}

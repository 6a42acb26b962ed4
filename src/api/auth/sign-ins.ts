/** The steps of a sign-in with a password: the session begins after the second factor, if the user has one or needs one. */
import { ServiceError } from '../../errors.ts';
import { principalOfUser, type User } from '../../model/auth/user.ts';
import { Composed } from '../../model/values/composed.ts';
import type { PendingSignIns } from '../../store/auth/pending-sign-ins.ts';
import { type Context, isSecure } from '../http/router.ts';
import type { AuditLogger } from './audit-logger.ts';
import { seeOther } from './browser-responses.ts';
import type { BrowserSessions } from './browser-sessions.ts';
import { isForm } from './form-fields.ts';
import { PENDING_COOKIE } from './host-cookie.ts';
import { interrupted, type SecondFactors } from './second-factors.ts';

export const SECOND_FACTOR_PATH = '/second-factor';

const SUMMARIES = {
  'sign-in': 'Signed in',
  'set-up': 'Became the first admin',
  'set-password': 'Set a password',
};
type FirstStep = keyof typeof SUMMARIES;

/** A user who gave the password, and no second factor yet. */
export interface Pending {
  token: string;
  user: User;
  next: string;
}

export class SignIns extends Composed<{
  publicUrl: string | undefined;
  browserSessions: BrowserSessions;
  pendingSignIns: PendingSignIns;
  secondFactors: SecondFactors;
  auditLogger: AuditLogger;
}> {
  /** Continues a sign-in after the right password, or another proof of who the user is.
   *  @throws ServiceError second_factor_required, to programs */
  async proceed(ctx: Context, user: User, action: FirstStep, next = '/'): Promise<void> {
    const { auditLogger, browserSessions, pendingSignIns, publicUrl, secondFactors } = this.deps;
    const isDone = !secondFactors.has(user) && !secondFactors.isRequired;
    if (isDone) await browserSessions.start(ctx, user);
    if (isDone || action !== 'sign-in') {
      await auditLogger.log(ctx, { who: principalOfUser(user), action, summary: SUMMARIES[action] });
    }
    if (isDone) return this.respond(ctx, user, next);
    PENDING_COOKIE.set(ctx, isSecure(ctx, publicUrl), await pendingSignIns.begin(user, next));
    if (isForm(ctx)) return seeOther(ctx, SECOND_FACTOR_PATH);
    throw new ServiceError('second_factor_required', {
      detail: secondFactors.has(user)
        ? 'send its code to POST /auth/second-factor, with the cookie of this response'
        : 'set one up on the sign-in page',
    });
  }

  /** @throws ServiceError sign_in_interrupted */
  async pendingOf(ctx: Context): Promise<Pending> {
    const token = PENDING_COOKIE.read(ctx, isSecure(ctx, this.deps.publicUrl));
    const pending = token ? await this.deps.pendingSignIns.read(token) : undefined;
    if (!token || !pending) throw interrupted();
    return { token, ...pending };
  }

  /** Begins the session; a pending sign-in begins one at most.
   *  @param proof in words for the audit log */
  async finish(ctx: Context, { token }: Pick<Pending, 'token'>, user: User, proof: string): Promise<void> {
    const { browserSessions, pendingSignIns, publicUrl } = this.deps;
    if (!(await pendingSignIns.end(token))) throw interrupted();
    PENDING_COOKIE.clear(ctx, isSecure(ctx, publicUrl));
    await browserSessions.start(ctx, user);
    const summary = `Signed in with ${proof}`;
    await this.deps.auditLogger.log(ctx, { who: principalOfUser(user), action: 'sign-in', summary });
  }

  /** Forms are redirected, programs get the principal. */
  respond(ctx: Context, user: User, next = '/'): void {
    if (isForm(ctx)) {
      seeOther(ctx, next);
      return;
    }
    const { id, name, access } = principalOfUser(user);
    ctx.body = { data: { kind: 'user', id, name, access, role: user.role } };
  }
}

/** `/auth/…` and the pages before it: the doors through which people come in, and out. Open to everybody. */
import Router from '@koa/router';
import type { Context } from 'koa';
import { z } from 'zod';
import type { Config } from '../../config.ts';
import { ServiceError } from '../../errors.ts';
import { emailSchema, passwordSchema, principalOfUser } from '../../model/auth/user.ts';
import type { Store } from '../../store/store.ts';
import { clientAddress } from '../http/client-address.ts';
import { answerPage } from '../http/html-page.ts';
import { check } from '../rest/route.ts';
import { Accounts, type SignedIn } from './accounts.ts';
import type { AuditLogger } from './audit-log.ts';
import { requireSameOrigin } from './csrf.ts';
import { isForm, readFields } from './form-fields.ts';
import { STYLE, setPasswordPage, setUpPage, signedInPage, signInPage, voidLinkPage } from './pages.ts';
import { Principals, principalOf } from './principals.ts';
import { safeRedirect } from './safe-redirect.ts';
import { clearSessionCookie, isSecure, readSessionCookie, setSessionCookie } from './session-cookie.ts';

const givenSchema = z.string().max(256);
const tokenSchema = z.string().max(256);
const signInSchema = z.object({ email: emailSchema, password: givenSchema });
const setUpSchema = z.object({ token: tokenSchema, email: emailSchema, password: passwordSchema });
const setPasswordSchema = z.object({ token: tokenSchema, password: passwordSchema });
const changePasswordSchema = z.object({ current_password: givenSchema, password: passwordSchema });

export function authRoutes(config: Config, store: Store, auditor: AuditLogger): Router {
  const router = new Router();
  const accounts = new Accounts(store);
  const callers = new Principals(config, store);
  const { publicUrl } = config;

  /** Starts the session, and answers a form with where to go, a program with who it is. */
  async function letIn(ctx: Context, { user, token }: SignedIn, action: string, next = '/'): Promise<void> {
    setSessionCookie(ctx, isSecure(ctx, publicUrl), token);
    await auditor.note(ctx, { who: principalOfUser(user), action, summary: SUMMARIES[action] as string });
    if (isForm(ctx)) return seeOther(ctx, next);
    const { id, name, access } = principalOfUser(user);
    ctx.body = { data: { kind: 'user', id, name, access, role: user.role } };
  }

  /** A person is shown the form again, with what was wrong; a program gets the error. */
  async function orAgain(ctx: Context, again: (error: string) => string, act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      if (!(error instanceof ServiceError) || !isForm(ctx) || error.status >= 500) throw error;
      ctx.status = error.status;
      if (error.retryAfterSeconds !== undefined) ctx.set('retry-after', String(error.retryAfterSeconds));
      answerPage(ctx, again(error.message), STYLE);
    }
  }

  /** @param name as whom it is tried */
  async function orNoted(ctx: Context, action: string, name: string, trying: Promise<SignedIn>): Promise<SignedIn> {
    try {
      return await trying;
    } catch (error) {
      if (error instanceof ServiceError && error.status < 500) await auditor.refuse(ctx, action, name, error);
      throw error;
    }
  }

  router.post('/auth/sign-in', async (context) => {
    const ctx = context as unknown as Context;
    const fields = await readFields(ctx, publicUrl);
    const next = safeRedirect((fields as { next?: unknown } | null)?.next);
    await orAgain(
      ctx,
      (error) => signInPage(next, error),
      async () => {
        const { email, password } = check(signInSchema, fields, 'field') as z.output<typeof signInSchema>;
        const signingIn = accounts.signIn(email, password, clientAddress(ctx));
        await letIn(ctx, await orNoted(ctx, 'sign-in', email, signingIn), 'sign-in', next);
      },
    );
  });

  router.post('/auth/set-up', async (context) => {
    const ctx = context as unknown as Context;
    const fields = await readFields(ctx, publicUrl);
    await orAgain(
      ctx,
      (error) => setUpPage(tokenOf(fields), error),
      async () => {
        const { token, email, password } = check(setUpSchema, fields, 'field') as z.output<typeof setUpSchema>;
        const settingUp = accounts.setUp(token, email, password);
        await letIn(ctx, await orNoted(ctx, 'set-up', email, settingUp), 'set-up');
      },
    );
  });

  router.post('/auth/set-password', async (context) => {
    const ctx = context as unknown as Context;
    const fields = await readFields(ctx, publicUrl);
    await orAgain(
      ctx,
      (error) => setPasswordPage(tokenOf(fields), error),
      async () => {
        const { token, password } = check(setPasswordSchema, fields, 'field') as z.output<typeof setPasswordSchema>;
        const setting = accounts.setPassword(token, password);
        await letIn(ctx, await orNoted(ctx, 'set-password', '', setting), 'set-password');
      },
    );
  });

  router.post('/auth/change-password', async (context) => {
    const ctx = context as unknown as Context;
    requireSameOrigin(ctx, publicUrl);
    const fields = await readFields(ctx, publicUrl);
    const given = check(changePasswordSchema, fields, 'field') as z.output<typeof changePasswordSchema>;
    ctx.state.caller = await callers.of(ctx);
    const { kind, id, name } = principalOf(ctx);
    if (kind !== 'user')
      throw new ServiceError('access_denied', { detail: 'only a user who has signed in has a password' });
    const changing = accounts.changePassword(id, given.current_password, given.password, clientAddress(ctx));
    await letIn(ctx, await orNoted(ctx, 'change-password', name, changing), 'set-password');
  });

  router.post('/auth/sign-out', async (context) => {
    const ctx = context as unknown as Context;
    requireSameOrigin(ctx, publicUrl);
    const secure = isSecure(ctx, publicUrl);
    const token = readSessionCookie(ctx, secure);
    if (token) await store.sessions.end(token);
    clearSessionCookie(ctx, secure);
    if (isForm(ctx)) return seeOther(ctx, '/sign-in');
    ctx.status = 204;
  });

  router.get('/auth/me', async (context) => {
    const ctx = context as unknown as Context;
    ctx.state.caller = await callers.of(ctx);
    const { kind, id, name, access, environment } = principalOf(ctx);
    ctx.body = { data: { kind, id, name, access, environment: environment ?? null } };
  });

  router.get('/sign-in', async (context) => {
    const ctx = context as unknown as Context;
    const caller = await callers.of(ctx);
    if (caller?.kind === 'dev') return ctx.redirect(safeRedirect(ctx.query.next));
    answerPage(ctx, caller ? signedInPage(caller.name) : signInPage(safeRedirect(ctx.query.next)), STYLE);
  });

  router.get('/set-up', (context) => showLink(context as unknown as Context, 'set-up', setUpPage));
  router.get('/set-password', (context) => showLink(context as unknown as Context, 'set-password', setPasswordPage));

  async function showLink(ctx: Context, purpose: 'set-up' | 'set-password', page: (token: string) => string) {
    const token = tokenOf(ctx.query);
    const valid = await accounts.isValidLink(token, purpose);
    if (!valid) ctx.status = 400;
    answerPage(ctx, valid ? page(token) : voidLinkPage(), STYLE);
  }

  return router;
}

const SUMMARIES: Record<string, string> = {
  'sign-in': 'Signed in',
  'set-up': 'Became the first admin',
  'set-password': 'Set a password',
};

function tokenOf(fields: unknown): string {
  const token = (fields as { token?: unknown } | null)?.token;
  return typeof token === 'string' ? token : '';
}

function seeOther(ctx: Context, path: string): void {
  ctx.status = 303;
  ctx.redirect(path);
}

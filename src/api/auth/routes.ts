/** `/auth/…` and the pages for signing in and setting passwords. These routes need no authentication. */

import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import { accessTo, onlyEnvironment } from '../../model/auth/access.ts';
import { emailSchema, passwordSchema, principalOfUser } from '../../model/auth/user.ts';
import { refOf } from '../../model/environment.ts';
import type { Store } from '../../store/store.ts';
import { sendPage } from '../http/html-page.ts';
import { clientAddress } from '../http/incoming-request.ts';
import { type Context, Router } from '../http/router.ts';
import { validate } from '../http/validation.ts';
import type { Accounts } from './accounts.ts';
import type { AuditLogger } from './audit-logger.ts';
import { seeOther, showError } from './browser-responses.ts';
import type { BrowserSessions } from './browser-sessions.ts';
import { requireSameOrigin, safeRedirect } from './csrf.ts';
import { isForm, readFields } from './form-fields.ts';
import { environmentOf } from './guard.ts';
import type { IdentityProviders } from './oidc/identity-providers.ts';
import { STYLE } from './page-layout.ts';
import {
  type Attempt,
  invalidLinkPage,
  outagePage,
  setPasswordPage,
  setUpPage,
  signedInPage,
  signedOutPage,
  signInPage,
} from './pages.ts';
import { type Principals, principalOf } from './principals.ts';
import type { SignIns } from './sign-ins.ts';

/** Longer texts are not email addresses. */
const EMAIL_SHOWN_MAX = 256;
const givenSchema = z.string().max(256);
const tokenSchema = z.string().max(256);
const signInSchema = z.object({ email: emailSchema, password: givenSchema });
const setUpSchema = z.object({ token: tokenSchema, email: emailSchema, password: passwordSchema });
const setPasswordSchema = z.object({ token: tokenSchema, password: passwordSchema });
const changePasswordSchema = z.object({ current_password: givenSchema, password: passwordSchema });

export interface AuthRouteDeps extends Pick<Store, 'environments'> {
  publicUrl: string | undefined;
  accounts: Accounts;
  identityProviders: IdentityProviders;
}

export function authRoutes(
  principals: Principals,
  browserSessions: BrowserSessions,
  signIns: SignIns,
  auditLogger: AuditLogger,
  { publicUrl, accounts, identityProviders, environments }: AuthRouteDeps,
): Router {
  const router = new Router();

  /** Shows the form again with the error; programs get the error as JSON. */
  async function orShowForm(
    ctx: Context,
    fields: unknown,
    form: (attempt: Attempt) => string,
    act: () => Promise<void>,
  ): Promise<void> {
    try {
      await act();
    } catch (thrown) {
      if (!isForm(ctx)) throw thrown;
      showError(ctx, thrown, (error) => form({ error, email: emailOf(fields) }));
    }
  }

  router.post('/auth/sign-in', async (ctx) => {
    const fields = await readFields(ctx, publicUrl);
    const next = safeRedirect((fields as { next?: unknown } | null)?.next);
    const offered = await identityProviders.offered();
    await orShowForm(
      ctx,
      fields,
      (attempt) => signInPage(next, offered, attempt),
      async () => {
        const { email, password } = validate(signInSchema, fields, 'field');
        const attempt = accounts.verify(email, password, clientAddress(ctx));
        await signIns.proceed(ctx, await auditLogger.orLogRejection(ctx, 'sign-in', email, attempt), 'sign-in', next);
      },
    );
  });

  router.post('/auth/set-up', async (ctx) => {
    const fields = await readFields(ctx, publicUrl);
    await orShowForm(
      ctx,
      fields,
      (attempt) => setUpPage(tokenOf(fields), attempt),
      async () => {
        const { token, email, password } = validate(setUpSchema, fields, 'field');
        const attempt = accounts.setUp(token, email, password);
        await signIns.proceed(ctx, await auditLogger.orLogRejection(ctx, 'set-up', email, attempt), 'set-up');
      },
    );
  });

  router.post('/auth/set-password', async (ctx) => {
    const fields = await readFields(ctx, publicUrl);
    await orShowForm(
      ctx,
      fields,
      (attempt) => setPasswordPage(tokenOf(fields), attempt),
      async () => {
        const { token, password } = validate(setPasswordSchema, fields, 'field');
        const attempt = accounts.setPassword(token, password);
        await signIns.proceed(ctx, await auditLogger.orLogRejection(ctx, 'set-password', '', attempt), 'set-password');
      },
    );
  });

  router.post('/auth/change-password', async (ctx) => {
    requireSameOrigin(ctx, publicUrl);
    const fields = await readFields(ctx, publicUrl);
    const { current_password, password } = validate(changePasswordSchema, fields, 'field');
    ctx.state.principal = await principals.of(ctx);
    const { kind, id, name } = principalOf(ctx);
    if (kind !== 'user') {
      throw new ServiceError('access_denied', { detail: 'only a signed-in user has a password; sign in first' });
    }
    const attempt = accounts.changePassword(id, current_password, password, clientAddress(ctx));
    const user = await auditLogger.orLogRejection(ctx, 'change-password', name, attempt);
    await browserSessions.renew(ctx, user);
    await auditLogger.log(ctx, { who: principalOfUser(user), action: 'set-password', summary: 'Set a password' });
    signIns.respond(ctx, user);
  });

  router.post('/auth/sign-out', async (ctx) => {
    requireSameOrigin(ctx, publicUrl);
    const ended = await browserSessions.end(ctx);
    if (isForm(ctx)) {
      const elsewhere = ended?.of && (await identityProviders.signOutOf(ended.of));
      return elsewhere ? sendPage(ctx, signedOutPage(elsewhere.name, elsewhere.url), STYLE) : seeOther(ctx, '/sign-in');
    }
    ctx.status = 204;
  });

  router.get('/auth/me', async (ctx) => {
    ctx.state.principal = await principals.of(ctx);
    const principal = principalOf(ctx);
    const { kind, id, name, access: installation_access } = principal;
    const selected = environmentOf(ctx);
    const access = accessTo(principal, refOf(selected, await environments.findOrFetch(selected)));
    const environment = onlyEnvironment(principal) ?? null;
    ctx.body = { data: { kind, id, name, access, installation_access, environment } };
  });

  router.get('/sign-in', async (ctx) => {
    const next = safeRedirect(ctx.query.next);
    const offered = await identityProviders.offered();
    try {
      const principal = await principals.of(ctx);
      if (principal?.kind === 'dev') return ctx.redirect(next);
      sendPage(ctx, principal ? signedInPage(principal.name, offered) : signInPage(next, offered), STYLE);
    } catch (thrown) {
      showError(ctx, thrown, (error) => signInPage(next, offered, { error }));
    }
  });

  router.get('/set-up', (ctx) => showLink(ctx, 'set-up', setUpPage));
  router.get('/set-password', (ctx) => showLink(ctx, 'set-password', setPasswordPage));

  async function showLink(ctx: Context, purpose: 'set-up' | 'set-password', page: (token: string) => string) {
    const token = tokenOf(ctx.query);
    try {
      const valid = await accounts.isValidLink(token, purpose);
      if (!valid) ctx.status = 400;
      sendPage(ctx, valid ? page(token) : invalidLinkPage(), STYLE);
    } catch (thrown) {
      showError(ctx, thrown, outagePage);
    }
  }

  return router;
}

function tokenOf(fields: unknown): string {
  const token = (fields as { token?: unknown } | null)?.token;
  return typeof token === 'string' ? token : '';
}

function emailOf(fields: unknown): string {
  const email = (fields as { email?: unknown } | null)?.email;
  return typeof email === 'string' ? email.slice(0, EMAIL_SHOWN_MAX) : '';
}

/** `/auth/oidc/…`: sign-in at an OpenID provider, and its message that a session has ended. These routes need no authentication. */
import { ServiceError } from '../../../errors.ts';
import { principalOfUser } from '../../../model/auth/user.ts';
import { stringOf } from '../../../model/values/json.ts';
import type { SignInFlow } from '../../../store/auth/sign-in-flows.ts';
import type { Store } from '../../../store/store.ts';
import { readBody } from '../../http/body.ts';
import { clientAddress } from '../../http/incoming-request.ts';
import { type Context, isSecure, Router } from '../../http/router.ts';
import { parseFields } from '../../http/urlencoded.ts';
import { SignInThrottled } from '../accounts.ts';
import type { AuditLogger } from '../audit-logger.ts';
import { seeOther, showError } from '../browser-responses.ts';
import type { BrowserSessions } from '../browser-sessions.ts';
import { safeRedirect } from '../csrf.ts';
import { FLOW_COOKIE } from '../host-cookie.ts';
import { signInPage } from '../pages.ts';
import type { IdentityProvider, ProviderUser } from './identity-provider.ts';
import type { IdentityProviders } from './identity-providers.ts';
import { SingleSignOn } from './single-sign-on.ts';

const LOGOUT_TOKEN_MAX_BYTES = 16_384;
/** A longer path would make the cookie too large. */
const NEXT_MAX = 1_000;

export interface SingleSignOnDeps extends Pick<Store, 'users' | 'sessions' | 'signInFlows' | 'signInThrottle'> {
  publicUrl: string | undefined;
  identityProviders: IdentityProviders;
}

export function singleSignOnRoutes(
  browserSessions: BrowserSessions,
  auditLogger: AuditLogger,
  deps: SingleSignOnDeps,
): Router {
  const { publicUrl, identityProviders, sessions, signInFlows, signInThrottle, users } = deps;
  const singleSignOn = new SingleSignOn({ users });
  const router = new Router();

  // This route needs no throttle: it stores nothing, and asks the provider for its metadata once an hour, or once at a time while the
  // provider is away.
  router.get('/auth/oidc/start', async (ctx) => {
    const next = pathIn(ctx.query.next);
    const provider = identityProviders.find(stringOf(ctx.query.provider));
    try {
      const { url, flow } = await provider.begin(next);
      FLOW_COOKIE.set(ctx, isSecure(ctx, publicUrl), signInFlows.seal(flow));
      seeOther(ctx, url.href);
    } catch (thrown) {
      const offered = await identityProviders.offered();
      showError(ctx, thrown, (error) => signInPage(next, offered, { error }));
    }
  });

  router.get('/auth/oidc/callback', (ctx) => callback(ctx, undefined));
  router.get('/auth/oidc/callback/:id', (ctx) => callback(ctx, ctx.params.id));

  async function callback(ctx: Context, id: string | undefined): Promise<void> {
    const provider = identityProviders.find(id);
    const secure = isSecure(ctx, publicUrl);
    const flow = signInFlows.open(FLOW_COOKIE.read(ctx, secure) ?? '', Date.now());
    const next = pathIn(flow?.next);
    FLOW_COOKIE.clear(ctx, secure);
    try {
      const isOurs = flow?.provider === provider.settings.id && flow.state === ctx.query.state;
      const attempt = isOurs && (await signInFlows.use(flow.state)) ? personOf(ctx, provider, flow) : interrupted();
      const person = await auditLogger.orLogRejection(ctx, 'sign-in', '', attempt);
      await auditLogger.orLogRejection(ctx, 'sign-in', person.email, startSession(ctx, provider, person));
      seeOther(ctx, next);
    } catch (thrown) {
      const offered = await identityProviders.offered();
      showError(ctx, thrown, (error) => signInPage(next, offered, { error }));
    }
  }

  /** Codes that the provider refuses are throttled as wrong passwords are, by address. */
  async function personOf(ctx: Context, provider: IdentityProvider, flow: SignInFlow): Promise<ProviderUser> {
    const attempt = { address: clientAddress(ctx) };
    const throttled = await signInThrottle.begin(attempt);
    if (throttled) throw new SignInThrottled(throttled);
    const person = await provider.userOf(ctx.querystring, flow);
    await signInThrottle.succeed(attempt);
    return person;
  }

  async function startSession(ctx: Context, { settings }: IdentityProvider, person: ProviderUser): Promise<void> {
    const { user, changes } = await singleSignOn.admit(settings, person, await browserSessions.userOf(ctx));
    const { issuer, subject, sid, idToken } = person;
    const of = { provider: settings.id, issuer, subject, sid, idToken: identityProviders.sealIdToken(idToken) };
    await browserSessions.start(ctx, user, of);
    const summary = [`Signed in with ${settings.name}`, ...changes].join('; ');
    await auditLogger.log(ctx, { who: principalOfUser(user), action: 'sign-in', summary });
  }

  router.post('/auth/oidc/backchannel-logout', (ctx) => logOut(ctx, undefined));
  router.post('/auth/oidc/backchannel-logout/:id', (ctx) => logOut(ctx, ctx.params.id));

  async function logOut(ctx: Context, id: string | undefined): Promise<void> {
    const provider = identityProviders.find(id);
    const form = parseFields((await readBody(ctx.req, LOGOUT_TOKEN_MAX_BYTES)).toString('utf8'), 'the form');
    const attempt = provider.logoutOf(form.logout_token?.[0] ?? '');
    const { issuer, id: tokenId, ...ended } = await auditLogger.orLogRejection(ctx, 'sign-out', '', attempt);
    ctx.status = 200;
    ctx.body = '';
    if (!(await signInFlows.use(tokenId))) return;
    const { count, userId } = await sessions.endOfProvider(issuer, ended);
    const user = userId === undefined ? undefined : await users.read(userId);
    if (!user) return;
    const summary = `Signed out by ${provider.settings.name}: ${count} ${count === 1 ? 'session' : 'sessions'}`;
    await auditLogger.log(ctx, { who: principalOfUser(user), action: 'sign-out', summary });
  }

  return router;
}

async function interrupted(): Promise<never> {
  throw new ServiceError('sso_interrupted', {
    detail: 'begin again on this page, in one tab, at the address of PUBLIC_URL',
  });
}

function pathIn(next: unknown): string {
  const path = safeRedirect(next);
  return path.length > NEXT_MAX ? '/' : path;
}

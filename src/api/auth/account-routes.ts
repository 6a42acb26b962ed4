/** `/auth/account`: signed-in users read and change their own account. Changes of second factors need the current
 *  password. */
import { z } from 'zod';
import { notFound, ServiceError } from '../../errors.ts';
import { principalOfUser, type User } from '../../model/auth/user.ts';
import type { Sessions } from '../../store/auth/sessions.ts';
import { clientAddress } from '../http/incoming-request.ts';
import { type Context, Router } from '../http/router.ts';
import { validate } from '../http/validation.ts';
import { accountView } from './account-view.ts';
import type { Accounts } from './accounts.ts';
import type { AuditLogger } from './audit-logger.ts';
import type { BrowserSessions } from './browser-sessions.ts';
import { requireSameOrigin } from './csrf.ts';
import { readFields } from './form-fields.ts';
import type { IdentityProviders } from './oidc/identity-providers.ts';
import { type Passkeys, relyingPartyOf, requireParty } from './passkeys.ts';
import { codeSchema, credentialSchema, setUpSchema } from './second-factor-routes.ts';
import type { Changed, SecondFactors } from './second-factors.ts';

const PATH = '/auth/account';
const confirmedSchema = z.object({ current_password: z.string().max(256) });
const totpSchema = z.object({ set_up: setUpSchema, code: codeSchema });
const passkeySchema = z.object({ name: z.string().trim().min(1).max(64), credential: credentialSchema });
/** Sessions to end: the one that is named, or all others. */
const endedSchema = z.object({ session: z.string().max(64).optional() });
const removedSchema = confirmedSchema.extend({ passkey: z.string().max(1_400).optional() });

/** A signed-in user, and the token of the session. */
interface SignedIn {
  user: User;
  token: string;
}

export interface AccountRouteDeps {
  publicUrl: string | undefined;
  accounts: Accounts;
  auditLogger: AuditLogger;
  browserSessions: BrowserSessions;
  identityProviders: IdentityProviders;
  passkeys: Passkeys;
  secondFactors: SecondFactors;
  sessions: Sessions;
}

export function accountRoutes(deps: AccountRouteDeps): Router {
  const { publicUrl, accounts, auditLogger, browserSessions, passkeys, secondFactors, sessions } = deps;
  const router = new Router();

  router.get(PATH, async (ctx) => {
    const { user, token } = await signedIn(ctx);
    ctx.body = {
      data: accountView({
        user,
        sessions: await sessions.ofUser(user),
        current: sessions.idOf(token),
        namesOf: (of) => deps.identityProviders.namesOf(of),
        mayUsePassword: accounts.mayUsePassword(user),
        isRequired: secondFactors.isRequired,
        hasPasskeys: relyingPartyOf(ctx, publicUrl) !== undefined,
      }),
    };
  });

  router.post(`${PATH}/sessions/end`, async (ctx) => {
    const { session } = validate(endedSchema, await fieldsOf(ctx), 'field');
    const { user, token } = await signedIn(ctx);
    const all = await sessions.ofUser(user);
    const ended = all.filter(({ id }) => (session === undefined ? id !== sessions.idOf(token) : id === session));
    if (session !== undefined && ended.length === 0) throw notFound('session', session);
    for (const { id } of ended) await sessions.endById(id);
    const which = session === undefined ? 'other ' : '';
    await log(
      ctx,
      user,
      'end-sessions',
      `Ended ${ended.length} ${which}${ended.length === 1 ? 'session' : 'sessions'}`,
    );
    ctx.status = 204;
  });

  router.post(`${PATH}/totp/set-up`, async (ctx) => {
    const { user } = await confirmed(ctx, await fieldsOf(ctx));
    ctx.body = { data: await secondFactors.beginTotp(user) };
  });

  router.post(`${PATH}/totp`, async (ctx) => {
    const { set_up, code } = validate(totpSchema, await fieldsOf(ctx), 'field');
    const { user } = await signedIn(ctx);
    const change = secondFactors.throttled(user, clientAddress(ctx), () => secondFactors.addTotp(user, set_up, code));
    await respondToChange(ctx, user, change, 'Added an authenticator app');
  });

  router.post(`${PATH}/totp/remove`, async (ctx) => {
    const { user } = await confirmed(ctx, await fieldsOf(ctx));
    await respondToChange(ctx, user, secondFactors.removeTotp(user), 'Removed the authenticator app');
  });

  router.post(`${PATH}/passkeys/set-up`, async (ctx) => {
    const { user, token } = await confirmed(ctx, await fieldsOf(ctx));
    ctx.body = { data: await passkeys.creationOptions(user, requireParty(ctx, publicUrl), token) };
  });

  router.post(`${PATH}/passkeys`, async (ctx) => {
    const { name, credential } = validate(passkeySchema, await fieldsOf(ctx), 'field');
    const { user, token } = await signedIn(ctx);
    const at = requireParty(ctx, publicUrl);
    const add = async () => secondFactors.addPasskey(user, await passkeys.created(credential, name, at, token));
    await respondToChange(ctx, user, add(), `Added the passkey ${name}`);
  });

  router.post(`${PATH}/passkeys/remove`, async (ctx) => {
    const fields = await fieldsOf(ctx);
    const { user } = await confirmed(ctx, fields);
    const { passkey = '' } = validate(removedSchema, fields, 'field');
    const name = user.secondFactors?.passkeys.find(({ id }) => id === passkey)?.name ?? '';
    await respondToChange(ctx, user, secondFactors.removePasskey(user, passkey), `Removed the passkey ${name}`);
  });

  router.post(`${PATH}/recovery-codes`, async (ctx) => {
    const { user } = await confirmed(ctx, await fieldsOf(ctx));
    await respondToChange(ctx, user, secondFactors.renewRecoveryCodes(user), 'Made new recovery codes');
  });

  async function fieldsOf(ctx: Context): Promise<unknown> {
    requireSameOrigin(ctx, publicUrl);
    return readFields(ctx, publicUrl);
  }

  async function signedIn(ctx: Context): Promise<SignedIn> {
    const [user, token] = [await browserSessions.userOf(ctx), browserSessions.tokenOf(ctx)];
    if (!user || token === undefined) throw new ServiceError('credentials_invalid', { detail: 'sign in first' });
    return { user, token };
  }

  /** The session alone may be somebody else's, at an unlocked screen. */
  async function confirmed(ctx: Context, fields: unknown): Promise<SignedIn> {
    const { user, token } = await signedIn(ctx);
    const { current_password } = validate(confirmedSchema, fields, 'field');
    const attempt = accounts.confirm(user.id, current_password, clientAddress(ctx));
    return { user: await auditLogger.orLogRejection(ctx, 'second-factor', user.email, attempt), token };
  }

  /** Responds to a change that has ended all sessions: this browser gets another one. */
  async function respondToChange(ctx: Context, user: User, change: Promise<Changed>, summary: string): Promise<void> {
    const changed = await auditLogger.orLogRejection(ctx, 'second-factor', user.email, change);
    await browserSessions.renew(ctx, changed.user);
    await log(ctx, changed.user, 'second-factor', summary);
    ctx.body = { data: { recovery_codes: changed.recoveryCodes } };
  }

  async function log(ctx: Context, user: User, action: string, summary: string): Promise<void> {
    await auditLogger.log(ctx, { who: principalOfUser(user), action, summary });
  }

  return router;
}

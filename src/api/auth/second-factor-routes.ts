/** The second step of signing in with a password. The cookie of the pending sign-in identifies the user; it gives
 *  access to nothing else. */
import { z } from 'zod';
import { stringOf } from '../../model/values/json.ts';
import { sendPage } from '../http/html-page.ts';
import { clientAddress } from '../http/incoming-request.ts';
import { type Context, Router } from '../http/router.ts';
import { validate } from '../http/validation.ts';
import type { AuditLogger } from './audit-logger.ts';
import { showError } from './browser-responses.ts';
import { isForm, readFields } from './form-fields.ts';
import { STYLE } from './page-layout.ts';
import { PASSKEY_SCRIPT } from './passkey-script.ts';
import { type Passkeys, relyingPartyOf, requireParty } from './passkeys.ts';
import { interruptedPage, recoveryCodesPage, secondFactorPage, secondFactorSetUpPage } from './second-factor-pages.ts';
import { type Changed, interrupted, type SecondFactors } from './second-factors.ts';
import { type Pending, SECOND_FACTOR_PATH, type SignIns } from './sign-ins.ts';

export const codeSchema = z.string().min(1).max(32);
export const credentialSchema = z.string().min(1).max(12_000);
export const setUpSchema = z.string().max(1_024);
const proofSchema = z.union([z.object({ code: codeSchema }), z.object({ credential: credentialSchema })]);
const newFactorSchema = z.union([
  z.object({ set_up: setUpSchema, code: codeSchema }),
  z.object({ credential: credentialSchema }),
]);
const FIRST_PASSKEY = 'Passkey';

export interface SecondFactorRouteDeps {
  publicUrl: string | undefined;
  auditLogger: AuditLogger;
  passkeys: Passkeys;
  secondFactors: SecondFactors;
  signIns: SignIns;
}

export function secondFactorRoutes({
  publicUrl,
  auditLogger,
  passkeys,
  secondFactors,
  signIns,
}: SecondFactorRouteDeps): Router {
  const router = new Router();

  router.get(SECOND_FACTOR_PATH, async (ctx) => {
    try {
      await showStep(ctx, await signIns.pendingOf(ctx));
    } catch (thrown) {
      showError(ctx, thrown, interruptedPage);
    }
  });

  router.post('/auth/second-factor', (ctx) =>
    step(ctx, async (pending, fields) => {
      const { user } = pending;
      const proof = validate(proofSchema, fields, 'field');
      const attempt = secondFactors.throttled(user, clientAddress(ctx), async () => {
        if (!secondFactors.has(user)) throw interrupted();
        return 'code' in proof ? secondFactors.useCode(user, proof.code) : usePasskey(ctx, pending, proof.credential);
      });
      const summary = await auditLogger.orLogRejection(ctx, 'second-factor', user.email, attempt);
      await signIns.finish(ctx, pending, user, `a password and ${summary}`);
      signIns.respond(ctx, user, pending.next);
    }),
  );

  router.post('/auth/second-factor/set-up', (ctx) =>
    step(ctx, async (pending, fields) => {
      const given = validate(newFactorSchema, fields, 'field');
      const attempt = secondFactors.throttled(pending.user, clientAddress(ctx), () => add(ctx, pending, given));
      const { user, recoveryCodes } = await auditLogger.orLogRejection(
        ctx,
        'second-factor',
        pending.user.email,
        attempt,
      );
      await signIns.finish(ctx, pending, user, 'a password, and set up a second factor');
      if (isForm(ctx)) return sendPage(ctx, recoveryCodesPage(recoveryCodes, pending.next), STYLE);
      ctx.body = { data: { recovery_codes: recoveryCodes } };
    }),
  );

  /** Shows the step again with the error, or that the sign-in has ended; programs get the error as JSON. */
  async function step(ctx: Context, act: (pending: Pending, fields: unknown) => Promise<void>): Promise<void> {
    const fields = await readFields(ctx, publicUrl);
    let pending: Pending | undefined;
    try {
      pending = await signIns.pendingOf(ctx);
      await act(pending, fields);
    } catch (thrown) {
      if (!isForm(ctx)) throw thrown;
      const still = pending && (await signIns.pendingOf(ctx).catch(() => undefined));
      if (!still) return showError(ctx, thrown, interruptedPage);
      const page = await stepPage(ctx, still, stringOf((fields as { set_up?: unknown } | null)?.set_up));
      showError(ctx, thrown, page, PASSKEY_SCRIPT);
    }
  }

  async function showStep(ctx: Context, pending: Pending): Promise<void> {
    const page = await stepPage(ctx, pending);
    sendPage(ctx, page(), STYLE, PASSKEY_SCRIPT);
  }

  async function stepPage(ctx: Context, { user, token }: Pending, begun?: string): Promise<(error?: string) => string> {
    const at = relyingPartyOf(ctx, publicUrl);
    const { email, secondFactors: factors } = user;
    if (secondFactors.has(user)) {
      const passkey = at && (await passkeys.requestOptions(user, at, token));
      return (error) => secondFactorPage({ email, passkey, hasTotp: factors?.totp !== undefined, error });
    }
    const passkey = at && (await passkeys.creationOptions(user, at, token));
    const totp = await secondFactors.beginTotp(user, begun);
    return (error) => secondFactorSetUpPage({ email, passkey, error }, totp);
  }

  async function usePasskey(ctx: Context, { user, token }: Pending, credential: string): Promise<string> {
    const passkey = await passkeys.used(credential, user, requireParty(ctx, publicUrl), token);
    return secondFactors.usePasskey(user, passkey);
  }

  /** Only for users without a second factor. With one, the password alone cannot add another. */
  async function add(
    ctx: Context,
    { user, token }: Pending,
    given: z.output<typeof newFactorSchema>,
  ): Promise<Changed> {
    if (secondFactors.has(user) || !secondFactors.isRequired) throw interrupted();
    if ('code' in given) return secondFactors.addTotp(user, given.set_up, given.code);
    const at = requireParty(ctx, publicUrl);
    return secondFactors.addPasskey(user, await passkeys.created(given.credential, FIRST_PASSKEY, at, token));
  }

  return router;
}

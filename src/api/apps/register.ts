/** `POST /fn/register`: an app registers its functions (docs/protocol.md). The responses have the shape of the protocol. */

import type { Quotas } from '../../config.ts';
import { ServiceError } from '../../errors.ts';
import { dialectOf, headerName, readHeader, SERVER_SDK } from '../../functions/headers.ts';
import { askedByWhatIf } from '../../functions/sync-request.ts';
import type { Backpressure } from '../../jobs/queues/backpressure.ts';
import { appNameIn } from '../../model/apps/app.ts';
import { PRODUCTION } from '../../model/environment.ts';
import { ID_PATTERN } from '../../model/ids.ts';
import type { GivenRegistration } from '../../store/apps/asked-registrations.ts';
import type { Store } from '../../store/store.ts';
import { isStillProven, requireProven } from '../auth/proven-environment.ts';
import { readBody } from '../http/body.ts';
import { serviceErrorOf } from '../http/error-handler.ts';
import type { Context, Router } from '../http/router.ts';
import { type AppGuardDeps, appGuard, environmentOfApp } from './app-requests.ts';
import { localAddress, otherKindProblem, type ServiceAddress } from './mode-hints.ts';
import { isHeld } from './origin-check.ts';
import { BY_APP, type Registrar } from './registrar.ts';
import { problemsOf, refusalOf, shownBySdk } from './registration-problems.ts';

/** 2,000 functions of 1 KB each. Parsing twice as much blocks the main thread for 250 ms. */
export const BODY_MAX_BYTES = 2 * 1_048_576;

export interface RegisterRouteDeps extends AppGuardDeps, ServiceAddress, Pick<Store, 'apps' | 'askedRegistrations'> {
  registrar: Registrar;
  quotas: Quotas;
  backpressure: Backpressure;
}

export function registerRoute(router: Router, deps: RegisterRouteDeps): void {
  const { dev, registrar, quotas, apps, environments, backpressure } = deps;
  const address = localAddress(deps);
  const serverKind = dev ? 'dev' : 'cloud';

  router.post('/fn/register', appGuard(deps), async (ctx) => {
    const dialect = dialectOf(ctx.req.headers) ?? 'service';
    ctx.set(headerName(dialect, 'sdk'), SERVER_SDK);
    ctx.set(headerName(dialect, 'server-kind'), serverKind);
    rejectOtherKind(ctx, serverKind, address);
    backpressure.admitRegistration();
    const text = (await readBody(ctx.req, BODY_MAX_BYTES)).toString('utf8');
    if (await keptForWhatIf(ctx, { text, dialect }, deps)) {
      ctx.body = { ok: true, modified: false };
      return;
    }
    try {
      const parsed = await registrar.parse(text, dialect);
      const env = await environmentOfApp(ctx, environments, quotas.branches);
      const { modified, registered, refused, declinedUrl } = await registrar.register(env, parsed, BY_APP, {
        confirm: async () => requireProven(ctx, await environments.findOrFetch(env)),
      });
      const problem = refusalOf(registered.length, refused);
      if (problem) throw problem;
      const functions = problemsOf(registered);
      const { unsupported } = parsed.checked;
      ctx.body = {
        ok: true,
        modified,
        ...(functions.length > 0 && { functions }),
        ...(declinedUrl !== undefined && { declined_url: declinedUrl }),
        ...(dialect === 'inngest' && shownBySdk(functions, declinedUrl)),
        ...(unsupported && { unsupported: unsupported.fields, unsupported_count: unsupported.count }),
      };
    } catch (error) {
      const env = readHeader(ctx.req.headers, 'env') || PRODUCTION;
      const name = nameIn(text);
      // A held registration does not change the app.
      if (!isHeld(error) && isStillProven(ctx, environments.find(env))) {
        const { message } = serviceErrorOf(error);
        await apps.recordSyncFailure(env, (app) => app.name === name, message, Date.now(), 'told', BY_APP);
      }
      throw error;
    }
  });
}

/** @throws ServiceError registration_invalid if either the app or the service is in dev mode, but not both */
function rejectOtherKind(ctx: Context, serverKind: 'dev' | 'cloud', address: string): void {
  const expected = readHeader(ctx.req.headers, 'expected-server-kind');
  if (!expected || expected === serverKind) return;
  throw new ServiceError('registration_invalid', {
    detail: otherKindProblem(expected, serverKind, address, dialectOf(ctx.req.headers) ?? 'service'),
  });
}

/** Whether a what-if has asked for this registration, which then registers nothing, even if the what-if no longer waits. */
async function keptForWhatIf(
  ctx: Context,
  given: GivenRegistration,
  { askedRegistrations }: Pick<RegisterRouteDeps, 'askedRegistrations'>,
): Promise<boolean> {
  const id = askedByWhatIf(ctx.req.headers, ctx.query);
  if (id === undefined) return false;
  const env = readHeader(ctx.req.headers, 'env') || PRODUCTION;
  if (ID_PATTERN.test(id)) await askedRegistrations.keep(env, id, given);
  return true;
}

/** undefined if the text is not JSON or has none. */
function nameIn(text: string): unknown {
  try {
    return appNameIn(JSON.parse(text));
  } catch {
    return undefined;
  }
}

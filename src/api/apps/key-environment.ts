/** The environment of an app's request: the environment that the request names, otherwise that of the signing key. */
import { ServiceError } from '../../errors.ts';
import { readHeader } from '../../functions/headers.ts';
import { provesKey } from '../../functions/signing.ts';
import { sameSecret } from '../../model/auth/secret.ts';
import { ownerOfName, PRODUCTION } from '../../model/environment.ts';
import { bearerOf } from '../auth/principals.ts';
import { rememberProven, requireProven } from '../auth/proven-environment.ts';
import type { Context } from '../http/router.ts';
import { type AppGuardDeps, namedEnvironment } from './app-requests.ts';

const KEY_WORD = /^signkey-(\w+)-/;

/** Requires `Authorization: Bearer <signing key>`, hashed or unhashed, as some SDKs send it. Call `confirmEnvironment` after reading the
 *  body.
 *  @throws ServiceError credentials_invalid, environment_unknown */
export async function authenticateApp(ctx: Context, deps: AppGuardDeps): Promise<string> {
  const { dev, environments, signingKeys } = deps;
  const named = readHeader(ctx.req.headers, 'env') ? (await namedEnvironment(ctx, environments)).name : undefined;
  const proven = (name: string, signingKey?: string) => {
    rememberProven(ctx, { environment: environments.find(name), signingKey });
    return name;
  };
  if (dev) return proven(named ?? PRODUCTION);
  const bearer = bearerOf(ctx) ?? '';
  const candidates = bearer === '' ? [] : named === undefined ? namesOfKey(bearer, deps) : [named];
  for (const name of candidates) {
    const owner = name === PRODUCTION ? PRODUCTION : ownerOfName(environments.find(name));
    const isProven = (key: string) => provesKey(bearer, key) || sameSecret(bearer, key);
    const signingKey = await signingKeys.find(owner, isProven);
    if (signingKey !== undefined) return proven(name, signingKey);
  }
  throw new ServiceError('credentials_invalid', {
    detail: 'the app must have the signing key of its environment, and name a branch environment in the env header',
  });
}

/** @param name result of `authenticateApp` before the body was read
 *  @throws ServiceError environment_changed */
export function confirmEnvironment(
  ctx: Context,
  name: string,
  { environments }: Pick<AppGuardDeps, 'environments'>,
): void {
  requireProven(ctx, environments.find(name));
}

/** Environments that may have the key. The word in its middle is the environment's name, or anything if a setting provides the key. */
function namesOfKey(bearer: string, { environments }: AppGuardDeps): string[] {
  const word = KEY_WORD.exec(bearer)?.[1];
  const named = word === undefined ? [] : environments.named().filter((name) => name.replace(/\W/g, '_') === word);
  return [PRODUCTION, ...named];
}

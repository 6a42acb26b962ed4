/** Apps prove themselves by the signing key of their environment; people and programs are the guard's matter (identity/guard.ts). */
import type { Context, Next } from 'koa';
import type { Config } from '../../config.ts';
import { ServiceError } from '../../errors.ts';
import { readHeader } from '../../functions/headers.ts';
import { provesKey } from '../../functions/signing.ts';
import { BRANCHES, ownerOf, PRODUCTION } from '../../model/environment.ts';
import type { SigningKeyPair, SigningKeys } from '../../store/auth/signing-keys.ts';
import type { Environments } from '../../store/environments/environments.ts';
import { bearerOf } from '../auth/principals.ts';

type Guard = (ctx: Context, next: Next) => Promise<void>;

/** `Authorization: Bearer <hashed signing key>` (docs/protocol.md#authentication-of-apps), of the environment that the app names. */
export function appGuard({ dev }: Config, signingKeys: SigningKeys, environments: Environments): Guard {
  return async (ctx, next) => {
    if (!dev && !(await isProven(ctx, signingKeys, environments))) {
      throw new ServiceError('credentials_invalid', {
        detail: 'the app must have the signing key of its environment; all branches share one',
      });
    }
    await next();
  };
}

async function isProven(ctx: Context, signingKeys: SigningKeys, environments: Environments): Promise<boolean> {
  const given = bearerOf(ctx);
  if (given === undefined) return false;
  const environment = await environments.findOrFetch(readHeader(ctx.req.headers, 'env') || PRODUCTION);
  // One that is not there can only become a branch.
  const owner = environment ? ownerOf(environment) : BRANCHES;
  const proves = ({ current, fallback }: SigningKeyPair) =>
    [current, fallback].some((key) => key !== undefined && provesKey(given, key));
  return proves(await signingKeys.latest(owner));
}

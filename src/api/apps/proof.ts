/** Apps prove themselves by the signing key of their environment; people and programs are the guard's matter (identity/guard.ts). */
import type { Context, Next } from 'koa';
import type { Config } from '../../config.ts';
import { ServiceError } from '../../errors.ts';
import { readHeader } from '../../functions/headers.ts';
import { provesKey } from '../../functions/signing.ts';
import { PRODUCTION } from '../../model/environment.ts';
import type { SigningKeys } from '../../store/signing-keys.ts';
import { bearerOf } from '../identity/callers.ts';
import { demandLocalPage } from '../identity/origin.ts';

type Guard = (ctx: Context, next: Next) => Promise<void>;

/** `Authorization: Bearer <hashed signing key>` (protocol: two dialects), of the environment that the app names. */
export function appGuard({ dev }: Config, signingKeys: SigningKeys): Guard {
  return async (ctx, next) => {
    if (dev) demandLocalPage(ctx);
    else if (!(await isProven(ctx, signingKeys))) {
      throw new ServiceError('credentials_invalid', {
        detail: 'the app must have the signing key of its environment; all branches share one',
      });
    }
    await next();
  };
}

async function isProven(ctx: Context, signingKeys: SigningKeys): Promise<boolean> {
  const given = bearerOf(ctx);
  if (given === undefined) return false;
  const owner = await signingKeys.ownerOf(readHeader(ctx.req.headers, 'env') || PRODUCTION);
  const { current, fallback } = await signingKeys.of(owner);
  return [current, fallback].some((key) => key !== undefined && provesKey(given, key));
}

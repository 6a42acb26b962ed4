/** Who may come in outside dev mode: the API by bearer key, Bull Board by the same key as a password, apps by their signing key. */
import type { Context, Next } from 'koa';
import type { Config } from '../config.ts';
import { ServiceError } from '../errors.ts';
import { hashedKey, sameSecret } from '../functions/signing.ts';

type Guard = (ctx: Context, next: Next) => Promise<void>;

/** `Authorization: Bearer <API_KEY>`, or Basic with it as the password (for browsers). */
export function apiGuard({ dev, apiKey }: Config): Guard {
  return async (ctx, next) => {
    if (dev) return void (await next());
    const given = bearerOf(ctx) ?? basicPasswordOf(ctx);
    if (given === undefined || apiKey === undefined || !sameSecret(given, apiKey)) {
      ctx.set('www-authenticate', 'Basic realm="service", charset="UTF-8"');
      throw new ServiceError('credentials_invalid', { detail: 'send "Authorization: Bearer <API_KEY>"' });
    }
    await next();
  };
}

/** `Authorization: Bearer <hashed signing key>` (protocol: two dialects). */
export function appGuard({ dev, signingKey, signingKeyFallback }: Config): Guard {
  const accepted = [signingKey, signingKeyFallback].filter((key) => key !== undefined).map(hashedKey);
  return async (ctx, next) => {
    const given = bearerOf(ctx);
    if (!dev && !accepted.some((key) => given !== undefined && sameSecret(given, key))) {
      throw new ServiceError('credentials_invalid', {
        detail: 'the app must have the same signing key as the service',
      });
    }
    await next();
  };
}

function bearerOf(ctx: Context): string | undefined {
  return /^Bearer (.+)$/i.exec(ctx.get('authorization'))?.[1];
}

function basicPasswordOf(ctx: Context): string | undefined {
  const encoded = /^Basic (.+)$/i.exec(ctx.get('authorization'))?.[1];
  if (encoded === undefined) return undefined;
  const pair = Buffer.from(encoded, 'base64').toString('utf8');
  return pair.includes(':') ? pair.slice(pair.indexOf(':') + 1) : undefined;
}

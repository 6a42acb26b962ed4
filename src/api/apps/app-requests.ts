/** Authenticates requests of apps by the signing key of their environment, and resolves that environment (docs/protocol.md). */
import type { IncomingHttpHeaders } from 'node:http';
import type { Next } from 'koa';
import { ServiceError } from '../../errors.ts';
import { readHeader } from '../../functions/headers.ts';
import { isKey } from '../../functions/signing.ts';
import { BRANCHES, type Environment, environmentNameSchema, ownerOf, PRODUCTION } from '../../model/environment.ts';
import { describe } from '../../model/values/json.ts';
import type { SigningKeyPair, SigningKeys } from '../../store/auth/signing-keys.ts';
import type { Environments } from '../../store/environments/environments.ts';
import { bearerOf } from '../auth/principals.ts';
import type { Context, Middleware } from '../http/router.ts';

export interface AppGuardDeps {
  dev: boolean;
  signingKeys: SigningKeys;
  environments: Environments;
}

/** Requires `Authorization: Bearer <hashed signing key>` of the environment that the app names.
 *  @throws ServiceError credentials_invalid */
export function appGuard({ dev, signingKeys, environments }: AppGuardDeps): Middleware {
  return async (ctx: Context, next: Next) => {
    if (!dev && !(await hasSigningKey(ctx, signingKeys, environments))) {
      throw new ServiceError('credentials_invalid', {
        detail: 'the app must have the signing key of its environment; all branch environments share one',
      });
    }
    await next();
  };
}

/** Requires the hashed signing key of an environment that the request names otherwise than by header.
 *  @throws ServiceError credentials_invalid, environment_unknown */
export async function requireSigningKey(
  ctx: Context,
  env: string,
  { dev, signingKeys, environments }: AppGuardDeps,
): Promise<void> {
  const environment = await environments.findOrFetch(env);
  if (!dev && !(environment && (await provesKeyOf(ctx, ownerOf(environment), signingKeys)))) {
    throw new ServiceError('credentials_invalid', { detail: 'the app must have the signing key of its environment' });
  }
  if (!environment) throw new ServiceError('environment_unknown', { detail: `got ${describe(env)}` });
}

/** The environment of a registration; production when the app names none. An unknown name creates a branch environment.
 *  @throws ServiceError registration_invalid, environment_archived, quota_exceeded */
export async function environmentOfApp(
  headers: IncomingHttpHeaders,
  environments: Environments,
  branchesMax: number,
): Promise<string> {
  const name = readHeader(headers, 'env');
  if (!name) return PRODUCTION;
  const environment = (await environments.findOrFetch(name)) ?? (await createBranch(name, environments, branchesMax));
  if (environment.archivedAt !== undefined) throw new ServiceError('environment_archived', { detail: describe(name) });
  return name;
}

/** The environment whose data an app requests.
 *  @throws ServiceError environment_unknown */
export async function existingEnvironment(headers: IncomingHttpHeaders, environments: Environments): Promise<string> {
  const name = readHeader(headers, 'env') || PRODUCTION;
  if (environmentNameSchema.safeParse(name).success && (await environments.findOrFetch(name))) return name;
  throw new ServiceError('environment_unknown', { detail: `got ${describe(name)}` });
}

async function hasSigningKey(ctx: Context, signingKeys: SigningKeys, environments: Environments): Promise<boolean> {
  if (bearerOf(ctx) === undefined) return false;
  const environment = await environments.findOrFetch(readHeader(ctx.req.headers, 'env') || PRODUCTION);
  // An unknown environment can only become a branch.
  return provesKeyOf(ctx, environment ? ownerOf(environment) : BRANCHES, signingKeys);
}

async function provesKeyOf(ctx: Context, owner: string, signingKeys: SigningKeys): Promise<boolean> {
  const given = bearerOf(ctx);
  if (given === undefined) return false;
  const proves = ({ current, fallback }: SigningKeyPair) =>
    [current, fallback].some((key) => key !== undefined && isKey(given, key));
  return proves(await signingKeys.latest(owner));
}

async function createBranch(name: string, environments: Environments, branchesMax: number): Promise<Environment> {
  if (!environmentNameSchema.safeParse(name).success) {
    throw new ServiceError('registration_invalid', {
      detail: `${describe(name)} is not a valid environment name`,
    });
  }
  const branch: Environment = { name, kind: 'branch', createdAt: Date.now() };
  await environments.create(branch, branchesMax);
  return branch;
}

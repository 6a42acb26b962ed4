/** Authenticates requests of apps by the signing key of their environment, and resolves that environment (docs/protocol.md). */
import type { Next } from 'koa';
import { ServiceError } from '../../errors.ts';
import { readHeader } from '../../functions/headers.ts';
import { isKey, provesKey } from '../../functions/signing.ts';
import { sameSecret } from '../../model/auth/secret.ts';
import { type Environment, environmentNameSchema, ownerOf, ownerOfName, PRODUCTION } from '../../model/environment.ts';
import { describe } from '../../model/values/json.ts';
import type { Store } from '../../store/store.ts';
import { bearerOf } from '../auth/principals.ts';
import { rememberProven, requireProven } from '../auth/proven-environment.ts';
import type { Context, Middleware } from '../http/router.ts';

export interface AppGuardDeps extends Pick<Store, 'signingKeys' | 'environments'> {
  dev: boolean;
}

/** Requires `Authorization: Bearer <hashed signing key>` of the environment that the app names.
 *  @throws ServiceError credentials_invalid */
export function appGuard({ dev, signingKeys, environments }: AppGuardDeps): Middleware {
  return async (ctx: Context, next: Next) => {
    const mayProve = dev || bearerOf(ctx) !== undefined;
    const environment = mayProve ? await environments.findOrFetch(selectedName(ctx)) : undefined;
    const signingKey = dev ? undefined : await keyProvenBy(ctx, ownerOfName(environment), signingKeys);
    if (!dev && signingKey === undefined) {
      throw new ServiceError('credentials_invalid', {
        detail: 'the app must have the signing key of its environment; all branch environments share one',
      });
    }
    rememberProven(ctx, { environment, signingKey });
    await next();
  };
}

/** Rejects a request without a key before its body is read.
 *  @throws ServiceError credentials_invalid */
export function requireCredentials(ctx: Context, { dev }: Pick<AppGuardDeps, 'dev'>): void {
  if (!dev && bearerOf(ctx) === undefined) throw keyRequired();
}

/** Requires the hashed signing key of an environment that is not named by a header.
 *  @throws ServiceError credentials_invalid, environment_unknown */
export async function requireSigningKey(
  ctx: Context,
  env: string,
  { dev, signingKeys, environments }: AppGuardDeps,
): Promise<void> {
  const environment = await environments.findOrFetch(env);
  if (!dev && !(environment && (await keyProvenBy(ctx, ownerOf(environment), signingKeys)))) {
    throw keyRequired();
  }
  if (!environment) throw new ServiceError('environment_unknown', { detail: `got ${describe(env)}` });
}

/** The environment of a registration that passed `appGuard`; production if the app names none. An unknown name creates a branch
 *  environment.
 *  @throws ServiceError registration_invalid, environment_archived, environment_changed, quota_exceeded */
export async function environmentOfApp(
  ctx: Context,
  environments: Store['environments'],
  branchesMax: number,
): Promise<string> {
  const name = selectedName(ctx);
  const found = await environments.findOrFetch(name);
  requireProven(ctx, found);
  const environment = found ?? (await createBranch(name, environments, branchesMax));
  // Another request may have created it first.
  requireProven(ctx, environment);
  if (environment.archivedAt !== undefined) throw new ServiceError('environment_archived', { detail: describe(name) });
  return name;
}

/** The environment of an app's request for data that passed `appGuard`.
 *  @throws ServiceError environment_unknown, environment_changed */
export async function existingEnvironment(ctx: Context, environments: Store['environments']): Promise<string> {
  const environment = await namedEnvironment(ctx, environments);
  requireProven(ctx, environment);
  return environment.name;
}

/** @throws ServiceError environment_unknown */
export async function namedEnvironment(ctx: Context, environments: Store['environments']): Promise<Environment> {
  const name = selectedName(ctx);
  const isName = environmentNameSchema.safeParse(name).success;
  const environment = isName ? await environments.findOrFetch(name) : undefined;
  if (environment) return environment;
  throw new ServiceError('environment_unknown', { detail: `got ${describe(name)}` });
}

function keyRequired(): ServiceError {
  return new ServiceError('credentials_invalid', { detail: 'the app must have the signing key of its environment' });
}

function selectedName({ req }: Context): string {
  return readHeader(req.headers, 'env') || PRODUCTION;
}

/** The signing key whose hash the request sends. */
async function keyProvenBy(
  ctx: Context,
  owner: string,
  signingKeys: Store['signingKeys'],
): Promise<string | undefined> {
  const given = bearerOf(ctx);
  if (given === undefined) return undefined;
  return signingKeys.find(owner, (key) => isKey(given, key));
}

async function createBranch(
  name: string,
  environments: Store['environments'],
  branchesMax: number,
): Promise<Environment> {
  if (!environmentNameSchema.safeParse(name).success) {
    throw new ServiceError('registration_invalid', {
      detail: `${describe(name)} is not a valid environment name`,
    });
  }
  const branch: Environment = { name, kind: 'branch', createdAt: Date.now() };
  await environments.create(branch, branchesMax);
  return environments.find(name) ?? branch;
}

const KEY_WORD = /^signkey-(\w+)-/;

/** The environment that the request names, otherwise that of the signing key. Requires `Authorization: Bearer <signing key>`, hashed or unhashed, as some SDKs send it. Call `confirmEnvironment` after reading the
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

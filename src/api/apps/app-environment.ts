/** The environment that an app belongs to: the one it names, production when it names none. */
import type { IncomingHttpHeaders } from 'node:http';
import { ServiceError } from '../../errors.ts';
import { readHeader } from '../../functions/headers.ts';
import { type Environment, environmentNameSchema, PRODUCTION } from '../../model/environment.ts';
import { describe } from '../../model/values/json.ts';
import type { Environments } from '../../store/environments/environments.ts';

/** A name that no environment has makes a branch: that is how branches come into being.
 *  @throws ServiceError registration_invalid, environment_archived, quota_exceeded */
export async function environmentOfApp(
  headers: IncomingHttpHeaders,
  environments: Environments,
  branchesMax: number,
): Promise<string> {
  const name = readHeader(headers, 'env');
  if (!name) return PRODUCTION;
  const environment = (await environments.findOrFetch(name)) ?? (await makeBranch(name, environments, branchesMax));
  if (environment.archivedAt !== undefined) throw new ServiceError('environment_archived', { detail: describe(name) });
  return name;
}

/** Of what an app asks for: there must be such an environment.
 *  @throws ServiceError environment_unknown */
export async function existingEnvironment(headers: IncomingHttpHeaders, environments: Environments): Promise<string> {
  const name = readHeader(headers, 'env') || PRODUCTION;
  if (environmentNameSchema.safeParse(name).success && (await environments.findOrFetch(name))) return name;
  throw new ServiceError('environment_unknown', { detail: `got ${describe(name)}` });
}

async function makeBranch(name: string, environments: Environments, branchesMax: number): Promise<Environment> {
  if (!environmentNameSchema.safeParse(name).success) {
    throw new ServiceError('registration_invalid', {
      detail: `${describe(name)} cannot be the name of an environment`,
    });
  }
  const branch: Environment = { name, kind: 'branch', createdAt: Date.now() };
  await environments.create(branch, branchesMax);
  return branch;
}

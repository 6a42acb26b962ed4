/** The environment that an app belongs to: the one it names, production when it names none. In dev mode there is only production. */
import type { IncomingHttpHeaders } from 'node:http';
import { ServiceError } from '../../errors.ts';
import { readHeader } from '../../functions/headers.ts';
import { type Environment, environmentNameSchema, PRODUCTION } from '../../model/environment.ts';
import { describe } from '../../model/json.ts';
import type { Environments } from '../../store/environments.ts';

/** A name that no environment has makes a branch: that is how branches come into being.
 *  @throws ServiceError registration_invalid, environment_archived */
export async function environmentOfApp(
  headers: IncomingHttpHeaders,
  dev: boolean,
  environments: Environments,
): Promise<string> {
  const name = readHeader(headers, 'env');
  if (dev || !name) return PRODUCTION;
  const environment = (await environments.seek(name)) ?? (await makeBranch(name, environments));
  if (environment.archivedAt !== undefined) throw new ServiceError('environment_archived', { detail: describe(name) });
  return name;
}

async function makeBranch(name: string, environments: Environments): Promise<Environment> {
  if (!environmentNameSchema.safeParse(name).success) {
    throw new ServiceError('registration_invalid', {
      detail: `${describe(name)} cannot be the name of an environment`,
    });
  }
  const branch: Environment = { name, kind: 'branch', createdAt: Date.now() };
  await environments.create(branch);
  return branch;
}

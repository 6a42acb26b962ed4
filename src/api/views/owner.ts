/** The owner of an event key or webhook: an environment, or the set of all branch environments. */
import { z } from 'zod';
import { invalidField, ServiceError } from '../../errors.ts';
import { BRANCH_SET, BRANCHES, environmentNameSchema, ownerOf, PRODUCTION } from '../../model/environment.ts';
import { describe } from '../../model/values/json.ts';
import type { Environments } from '../../store/environments/environments.ts';

export const ownerSchema = z
  .union([z.literal(BRANCH_SET), environmentNameSchema])
  .default(PRODUCTION)
  .transform((name) => (name === BRANCH_SET ? BRANCHES : name))
  .describe('Name of the environment that owns it; "branches": all branch environments share it');

export const ownerNameSchema = z.string().describe('Name of the environment that owns it, or "branches"');

export function presentOwner(owner: string): string {
  return owner === BRANCHES ? BRANCH_SET : owner;
}

/** @throws ServiceError environment_unknown, environment_archived, input_invalid for the name of a branch */
export async function checkOwner(owner: string, environments: Environments): Promise<void> {
  if (owner === BRANCHES) return;
  const environment = await environments.findOrFetch(owner);
  if (!environment) throw new ServiceError('environment_unknown', { detail: `got ${describe(owner)}` });
  if (environment.archivedAt !== undefined) throw new ServiceError('environment_archived', { detail: describe(owner) });
  if (ownerOf(environment) !== owner) {
    const remedy = `use "${BRANCH_SET}", which all branch environments share`;
    throw invalidField('environment', `got ${describe(owner)}, which is a branch environment; ${remedy}`);
  }
}

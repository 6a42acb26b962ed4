/** Whose a key or webhook is, as callers say it: an environment's by name, or of the set of all branches. */
import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import { BRANCH_SET, BRANCHES, environmentNameSchema, ownerOf, PRODUCTION } from '../../model/environment.ts';
import { describe } from '../../model/values/json.ts';
import type { Environments } from '../../store/environments/environments.ts';

export const ownerSchema = z
  .union([z.literal(BRANCH_SET), environmentNameSchema])
  .default(PRODUCTION)
  .transform((name) => (name === BRANCH_SET ? BRANCHES : name))
  .meta({ description: 'Name of the environment that it belongs to; "branches": shared by all branch environments' });

export const shownOwnerSchema = z.string().meta({ description: 'Name of its environment, or "branches"' });

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
    throw new ServiceError('input_invalid', {
      detail: `field "environment": got ${describe(owner)}, which is a branch; all branches share what belongs to "${BRANCH_SET}"`,
      facts: { field: 'environment' },
    });
  }
}

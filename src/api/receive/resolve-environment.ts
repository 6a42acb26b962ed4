/** Which environment a request's events go to, by whose key it is and what it selects (docs/events.md#selection). */
import { ServiceError } from '../../errors.ts';
import { BRANCHES, type Environment, ownerOf, PRODUCTION } from '../../model/environment.ts';
import { describe } from '../../model/values/json.ts';
import type { Environments } from '../../store/environments/environments.ts';
import type { HeldReason } from '../../store/webhooks/held-events.ts';

/** Where to, or why nowhere. */
export type Place = { env: string } | { held: HeldReason };

/** What a request that was not refused came to: the internal IDs of its events, and where they are. */
export interface Received {
  ids: string[];
  /** undefined: it made no event, or one that nobody has placed yet. */
  env: string | undefined;
}

/** @param owner name of the environment that the key belongs to, or BRANCHES
 *  @throws ServiceError environment_archived */
export async function placeOf(
  owner: string,
  selection: string | undefined,
  environments: Environments,
): Promise<Place> {
  const name = selection ?? (owner === BRANCHES ? undefined : owner);
  if (name === undefined) return { held: 'selection_missing' };
  const environment = environments.find(name) ?? (await environments.findOrFetch(name));
  if (!environment) return { held: 'environment_unknown' };
  if (ownerOf(environment) !== owner) return { held: 'environment_mismatch' };
  refuseArchived(environment);
  return { env: name };
}

/** For a key that belongs to no environment, as dev mode takes: where the request says, and production where it says nothing.
 *  @throws ServiceError environment_archived, environment_unknown */
export async function selectedEnvironment(selection: string | undefined, environments: Environments): Promise<string> {
  const environment = await environments.findOrFetch(selection ?? PRODUCTION);
  if (!environment) {
    throw new ServiceError('environment_unknown', {
      detail: `got ${describe(selection)}; make it, or have an app register in it`,
    });
  }
  refuseArchived(environment);
  return environment.name;
}

/** For what cannot be held: an event key's events.
 *  @throws ServiceError environment_archived, environment_missing, environment_unknown, environment_mismatch */
export async function environmentOf(
  owner: string,
  selection: string | undefined,
  environments: Environments,
): Promise<string> {
  const place = await placeOf(owner, selection, environments);
  if ('env' in place) return place.env;
  if (place.held === 'selection_missing') {
    throw new ServiceError('environment_missing', {
      detail: 'this key is shared by all branch environments; name one by header or query parameter',
    });
  }
  // A key of one environment is wrong with every other name, be there such an environment or not.
  if (place.held === 'environment_unknown' && owner === BRANCHES) {
    throw new ServiceError('environment_unknown', { detail: `got ${describe(selection)}` });
  }
  throw new ServiceError('environment_mismatch', {
    detail:
      owner === BRANCHES
        ? `got ${describe(selection)}, which is no branch; use a key of that environment`
        : `got ${describe(selection)}; this key belongs to "${owner}": leave the selection out, or use that environment's own key`,
  });
}

export function refuseArchived({ name, archivedAt }: Environment): void {
  if (archivedAt !== undefined) throw new ServiceError('environment_archived', { detail: describe(name) });
}

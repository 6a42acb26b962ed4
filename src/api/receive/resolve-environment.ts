/** Resolves the environment of a request's events from the owner of its key and the environment that it selects (docs/events.md#selection). */
import { ServiceError } from '../../errors.ts';
import { BRANCHES, type Environment, ownerOf, PRODUCTION } from '../../model/environment.ts';
import { describe } from '../../model/values/json.ts';
import type { Environments } from '../../store/environments/environments.ts';
import type { HeldReason } from '../../store/webhooks/held-events.ts';

/** The environment, or why there is none: then a webhook's event goes to the holding page. */
export type Resolution = { env: string } | { held: HeldReason };

/** A request that was not rejected. */
export interface Received {
  /** The internal IDs of its events. */
  ids: string[];
  /** The environment that accepted them; undefined if the request made no event, or a held one. */
  env: string | undefined;
  /** Replaces the usual response. */
  response?: CustomResponse | undefined;
}

/** A response that a provider expects, from a handshake or a transform. */
export interface CustomResponse {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: string;
}

/** @param owner environment of the key, or BRANCHES
 *  @throws ServiceError environment_archived */
export async function resolveEnvironment(
  owner: string,
  selection: string | undefined,
  environments: Environments,
): Promise<Resolution> {
  const name = selection ?? (owner === BRANCHES ? undefined : owner);
  if (name === undefined) return { held: 'selection_missing' };
  const environment = environments.find(name) ?? (await environments.findOrFetch(name));
  if (!environment) return { held: 'environment_unknown' };
  if (ownerOf(environment) !== owner) return { held: 'environment_mismatch' };
  rejectArchived(environment);
  return { env: name };
}

/** The environment for an unknown key, which dev mode accepts: the selected one, otherwise production.
 *  @throws ServiceError environment_archived, environment_unknown */
export async function environmentOfUnknownKey(
  selection: string | undefined,
  environments: Environments,
): Promise<string> {
  const environment = await environments.findOrFetch(selection ?? PRODUCTION);
  if (!environment) {
    throw new ServiceError('environment_unknown', {
      detail: `got ${describe(selection)}; create it, or let an app register in it`,
    });
  }
  rejectArchived(environment);
  return environment.name;
}

/** The environment for an event key. Its events are rejected in cases in which a webhook's events would be held.
 *  @throws ServiceError environment_archived, environment_missing, environment_unknown, environment_mismatch */
export async function environmentOfKey(
  owner: string,
  selection: string | undefined,
  environments: Environments,
): Promise<string> {
  const resolution = await resolveEnvironment(owner, selection, environments);
  if ('env' in resolution) return resolution.env;
  if (resolution.held === 'selection_missing') {
    throw new ServiceError('environment_missing', {
      detail: 'all branch environments share this key; select one by header or query parameter',
    });
  }
  // A key of one environment does not match another name, whether or not that environment exists.
  if (resolution.held === 'environment_unknown' && owner === BRANCHES) {
    throw new ServiceError('environment_unknown', { detail: `got ${describe(selection)}` });
  }
  throw new ServiceError('environment_mismatch', {
    detail:
      owner === BRANCHES
        ? `got ${describe(selection)}, which is not a branch environment; use a key of that environment`
        : `got ${describe(selection)}; this key belongs to "${owner}": remove the selection, or use a key of the selected environment`,
  });
}

/** @throws ServiceError environment_archived */
export function rejectArchived({ name, archivedAt }: Environment): void {
  if (archivedAt !== undefined) throw new ServiceError('environment_archived', { detail: describe(name) });
}

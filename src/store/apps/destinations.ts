/** Destinations of environments: functions that people create, with sealed secrets. */
import { ServiceError } from '../../errors.ts';
import type { AppFunction } from '../../model/apps/app.ts';
import { destinationId } from '../../model/apps/destination.ts';
import type { SealedSecret, Sealer } from '../../model/auth/seal.ts';
import { newId } from '../../model/ids.ts';
import { Composed } from '../../model/values/composed.ts';
import type { Functions } from './functions.ts';

export type DestinationFunction = AppFunction & Required<Pick<AppFunction, 'destination'>>;

export class Destinations extends Composed<{ functions: Functions; sealer: Sealer }> {
  /** Sorted by name. */
  async all(env: string): Promise<DestinationFunction[]> {
    const { functions } = await this.deps.functions.all(env);
    return functions.filter(isLive).sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** @throws ServiceError not_found */
  async read(env: string, name: string): Promise<DestinationFunction> {
    const fn = await this.deps.functions.read(env, destinationId(name));
    if (!fn || !isLive(fn)) throw missing(name);
    return fn;
  }

  /** @param most maximum number in the environment
   *  @throws ServiceError destination_exists, quota_exceeded */
  async create(env: string, fn: DestinationFunction, most: number): Promise<void> {
    await this.deps.functions.changeDestination(env, fn.id, most, (before) => {
      if (before && !before.archived) {
        throw new ServiceError('destination_exists', { detail: `"${fn.name}" is a destination of ${env}` });
      }
      return fn;
    });
  }

  /** Changes a destination atomically.
   *  @param change may be called several times
   *  @throws ServiceError not_found */
  async change(
    env: string,
    name: string,
    change: (before: DestinationFunction) => DestinationFunction,
  ): Promise<DestinationFunction> {
    return this.deps.functions.changeDestination(env, destinationId(name), undefined, (before) => {
      if (!before || !isLive(before)) throw missing(name);
      return change(before);
    });
  }

  /** Events no longer trigger it, and its active runs finish. */
  async remove(env: string, name: string): Promise<void> {
    await this.change(env, name, (before) => ({ ...before, archived: true }));
  }

  seal(env: string, id: string, text: string): SealedSecret {
    const secretId = newId();
    return { id: secretId, sealed: this.deps.sealer.seal(text, locationOf(env, id, secretId)), addedAt: Date.now() };
  }

  sealHeaders(env: string, id: string, headers: Readonly<Record<string, string>>): { names: string[]; sealed: string } {
    return {
      names: Object.keys(headers),
      sealed: this.deps.sealer.seal(JSON.stringify(headers), locationOf(env, id, HEADERS)),
    };
  }

  /** @throws SealError if SECRET_KEY has changed */
  secretsOf(env: string, { id, destination }: AppFunction, nowMs: number) {
    const { secrets = [], headers } = destination ?? {};
    const live = secrets.filter(({ until = Number.POSITIVE_INFINITY }) => until > nowMs);
    return {
      signing: live.map((secret) => this.deps.sealer.open(secret.sealed, locationOf(env, id, secret.id))),
      headers: headers
        ? (JSON.parse(this.deps.sealer.open(headers.sealed, locationOf(env, id, HEADERS))) as Record<string, string>)
        : {},
    };
  }

  /** Re-encrypts, with the current key, what the fallback encrypted. What neither key decrypts stays unchanged.
   *  @returns number of destinations */
  async reencrypt(env: string): Promise<number> {
    let count = 0;
    const { functions } = await this.deps.functions.all(env);
    for (const { id, destination } of functions) {
      if (!destination || sealedIn(destination).every((sealed) => this.deps.sealer.isCurrent(sealed))) continue;
      await this.deps.functions.changeDestination(env, id, undefined, (before) => {
        if (!before?.destination) throw missing(id);
        const { secrets, headers } = before.destination;
        const changed = {
          ...before.destination,
          secrets: secrets.map((secret) => ({
            ...secret,
            sealed: this.deps.sealer.reencrypted(secret.sealed, locationOf(env, id, secret.id)),
          })),
          ...(headers && {
            headers: { ...headers, sealed: this.deps.sealer.reencrypted(headers.sealed, locationOf(env, id, HEADERS)) },
          }),
        };
        return { ...before, destination: changed };
      });
      count += 1;
    }
    return count;
  }
}

/** Stands in for the ID of a secret. */
const HEADERS = 'headers';

function locationOf(env: string, id: string, secretId: string): string {
  return `${id}:${env}:${secretId}`;
}

function sealedIn({ secrets, headers }: DestinationFunction['destination']): string[] {
  return [...secrets.map(({ sealed }) => sealed), ...(headers ? [headers.sealed] : [])];
}

function isLive(fn: AppFunction): fn is DestinationFunction {
  return fn.destination !== undefined && !fn.archived;
}

function missing(name: string): ServiceError {
  return new ServiceError('not_found', { detail: `there is no destination named "${name}"` });
}

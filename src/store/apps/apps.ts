/** Registered apps: URL, SDK, dialect, and the result of the last registration. Their functions are stored separately (functions.ts). */
import type { Dialect, RefusedFunction } from '../../model/apps/app.ts';
import type { AppFacts, SyncOrigin } from '../../model/apps/deploy.ts';
import { quotaExceeded } from '../../model/apps/quotas.ts';
import type { Unsupported } from '../../model/apps/unsupported-fields.ts';
import { changeField } from '../redis/changed-field.ts';
import { Repository } from '../redis/repository.ts';

/** How the service learned of a failed registration: the app reported it (`told`), or a sync request failed (`asked`). */
export type SyncFinder = 'told' | 'asked';

export interface SyncFailure {
  /** Unix milliseconds. */
  at: number;
  error: string;
  found?: SyncFinder;
  by?: SyncOrigin | undefined;
}

export interface App extends AppFacts {
  name: string;
  dialect: Dialect;
  /** The last successful registration, Unix milliseconds. */
  registeredAt: number;
  /** The last registration attempt; it succeeded if there is no error. */
  lastSync: Omit<SyncFailure, 'error'> & Partial<Pick<SyncFailure, 'error'>>;
  /** The last failure ever, even if later registrations succeeded. */
  lastFailure?: SyncFailure;
  /** Functions of the last registration that were refused; absent if there were none. */
  refused?: RefusedFunction[];
  /** Fields of the last registration that the service ignores; absent if there were none. */
  unsupported?: Unsupported;
  /** URL of the last registration, if the app still responded at the path of `url`. */
  declinedUrl?: string;
}

export class Apps extends Repository {
  async save(env: string, app: App): Promise<void> {
    await this.redis.hset(this.keys.apps(env), app.name, JSON.stringify(app));
  }

  async read(env: string, name: string): Promise<App | undefined> {
    const text = await this.redis.hget(this.keys.apps(env), name);
    return text === null ? undefined : (JSON.parse(text) as App);
  }

  /** Reserves a place for a new app, so that concurrent registrations cannot exceed the quota.
   *  @returns a function that releases the place, unless the app has been saved since
   *  @throws ServiceError quota_exceeded */
  async claim(env: string, app: App, most: number): Promise<() => Promise<void>> {
    const key = this.keys.apps(env);
    const text = JSON.stringify(app);
    let isNew = false;
    const hasRoom = await changeField(this.redis, { key, field: app.name, fieldsMax: most }, (present) => {
      isNew = present === undefined;
      return present ?? text;
    });
    if (!hasRoom) {
      const what = `The environment "${env}" has ${most} apps`;
      throw quotaExceeded('apps', most, most, what, 'Delete some that are no longer used');
    }
    return async () => {
      if (isNew) await this.redis.replaceField(key, app.name, text, '');
    };
  }

  /** Sorted by name. */
  async all(env: string): Promise<App[]> {
    const texts = await this.redis.hvals(this.keys.apps(env));
    return texts.map((text) => JSON.parse(text) as App).sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Records a failed registration of a known app. */
  async recordSyncFailure(
    env: string,
    isMeant: (app: App) => boolean,
    error: string,
    nowMs: number,
    found: SyncFinder = 'told',
    by?: SyncOrigin,
  ): Promise<void> {
    const app = (await this.all(env)).find(isMeant);
    const failure = { at: nowMs, error, found, by };
    if (app) await this.save(env, { ...app, lastSync: failure, lastFailure: failure });
  }

  async remove(env: string, name: string): Promise<void> {
    await this.redis.hdel(this.keys.apps(env), name);
  }
}

/** What the archive takes from the rest. */
import type { RetentionOf } from '../archive/shipments.ts';
import type { Config } from '../config.ts';
import { DAY_MS } from '../model/values/time.ts';
import type { Store } from '../store/store.ts';

/** The setting in whole days: tables are of whole days. */
export function retentionDaysOf({ retentionMs }: Config): number {
  return Math.ceil(retentionMs / DAY_MS);
}

/** The retention of an environment, or else of the setting. */
export function retentionsOf(config: Config, { environments }: Pick<Store, 'environments'>): RetentionOf {
  return async (env) => (await environments.read(env))?.retentionDays ?? retentionDaysOf(config);
}

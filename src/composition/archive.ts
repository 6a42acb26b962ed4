/** What the archive takes from the rest. */
import type { RetentionOf } from '../archive/shipments.ts';
import type { Config } from '../config.ts';
import type { Store } from '../store/store.ts';

const DAY_MS = 86_400_000;

/** The retention of an environment, or else of the setting. */
export function retentionsOf({ retentionMs }: Config, { environments }: Pick<Store, 'environments'>): RetentionOf {
  return async (env) => (await environments.read(env))?.retentionDays ?? Math.ceil(retentionMs / DAY_MS);
}

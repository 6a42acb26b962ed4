/** Inputs of the archive from other rooms. */
import type { Archive } from '../archive/archive.ts';
import { BodyBucket } from '../archive/body-bucket.ts';
import type { RetentionOf } from '../archive/shipments.ts';
import type { WebhookBodyStore } from '../archive/webhook-bodies.ts';
import type { Config } from '../config.ts';
import { DAY_MS } from '../model/values/time.ts';
import type { Store } from '../store/store.ts';

/** The setting in whole days, like the tables. */
export function retentionDaysOf({ retentionMs }: Config): number {
  return Math.ceil(retentionMs / DAY_MS);
}

/** undefined without an archive and a bucket. */
export function bodyStoreOf({ largeBodiesUrl }: Config, archive: Archive | undefined): WebhookBodyStore | undefined {
  return largeBodiesUrl === undefined ? archive?.webhookBodies : new BodyBucket(largeBodiesUrl);
}

/** Retention of an environment; default: the setting's. */
export function retentionsOf(config: Config, { environments }: Pick<Store, 'environments'>): RetentionOf {
  return async (env) => (await environments.read(env))?.retentionDays ?? retentionDaysOf(config);
}

/** Scope of an environment's archive: its number, and the start of its retention. */

import { Composed } from '../model/values/composed.ts';
import { DAY_MS } from '../model/values/time.ts';
import type { Numbers } from './numbers.ts';
import type { RetentionOf } from './shipments.ts';

export interface Scope {
  envId: number;
  /** Start of the retention, Unix milliseconds. */
  since: number;
  now: number;
}

export class ArchivedScopes extends Composed<{ numbers: Numbers; retentionOf: RetentionOf }> {
  /** undefined if nothing of the environment is archived. */
  async of(env: string, nowMs = Date.now()): Promise<Scope | undefined> {
    const [envId, days] = await Promise.all([this.deps.numbers.environment(env), this.deps.retentionOf(env)]);
    return envId === undefined ? undefined : { envId, since: nowMs - days * DAY_MS, now: nowMs };
  }
}

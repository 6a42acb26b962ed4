/** Maximum size of requests that send events: the most specific limit wins (docs/events.md#sizes). */
import { BRANCHES } from '../../model/environment.ts';
import { Composed } from '../../model/values/composed.ts';
import type { Environments } from './environments.ts';
import type { InstallationLimits } from './installation-limits.ts';

/** The maximum of every limit. */
export const EVENT_LIMIT_MAX_BYTES = 16 * 1_048_576;

export interface EventLimit {
  bytes: number;
  /** How to raise the limit. */
  remedy: string;
}

export class EventLimits extends Composed<{
  environments: Environments;
  installationLimits: InstallationLimits;
  /** The setting EVENT_MAX_BYTES. */
  defaultBytes: number;
}> {
  /** Reads memory. @param env undefined if it is not known yet */
  of(env: string | undefined): EventLimit {
    const own = env === undefined ? undefined : this.deps.environments.find(env)?.eventMaxBytes;
    const bytes = own ?? this.deps.installationLimits.limits.eventMaxBytes ?? this.deps.defaultBytes;
    const path =
      env === undefined || env === BRANCHES
        ? '/v1/account/limits'
        : `/v1/environments/${encodeURIComponent(env)}/limits`;
    return {
      bytes,
      remedy: `raise the setting EVENT_MAX_BYTES, or the limit with PATCH ${path} (up to ${EVENT_LIMIT_MAX_BYTES})`,
    };
  }

  /** The limit of an event key wins. */
  ofKey({ id, maxBytes }: { id: string; maxBytes?: number | undefined }, env: string): EventLimit {
    if (maxBytes === undefined) return this.of(env);
    return {
      bytes: maxBytes,
      remedy: `raise "max_bytes" of the event key with PATCH /v1/event-keys/${id} (up to ${EVENT_LIMIT_MAX_BYTES})`,
    };
  }
}

/** Debounces: a group of events of which the latest is kept, until no later one has arrived for a period. */

import type { ScriptedRedis } from '../redis/connection/scripts.ts';
import type { Keyspace } from '../redis/keyspace/keyspace.ts';
import { EventGroups, type GroupKind } from './event-groups.ts';

/** The function's current periods. */
export interface DebouncePeriods {
  periodMs: number;
  timeoutMs?: number;
}

/** Effect of an event. `eventId`: the event that it replaces, the event that replaced it, or the event with which the debounce fired. */
export type DebounceResult = { outcome: 'waits' } | { outcome: 'replaces' | 'replaced' | 'fired'; eventId: string };

export interface FiredDebounce {
  /** ID of the latest event. */
  id: string;
  /** The last events that were replaced. */
  replaced: string[];
}

const DEBOUNCE: GroupKind<DebouncePeriods, DebounceResult, FiredDebounce> = {
  name: 'debounce',
  takenAtOnce: 100,
  keys: (homeKeys, env, functionId) => [
    homeKeys.debounces(env, functionId),
    homeKeys.debounceTimes(env, functionId),
    homeKeys.debounceStarts(env, functionId),
    homeKeys.firedDebounces(env, functionId),
    homeKeys.firedDebounceTimes(env, functionId),
    // The ID of a group is the ID of its event.
    homeKeys.firedDebounces(env, functionId),
    homeKeys.debounceTimerCheck(env, functionId),
  ],
  args: ({ periodMs, timeoutMs = '' }, homeKeys, env, functionId) => {
    return [periodMs, timeoutMs, functionId, homeKeys.lastDebounce(env, '')];
  },
  toAdded(reply) {
    const [outcome, eventId] = reply as [DebounceResult['outcome'], string?];
    return { outcome, eventId } as DebounceResult;
  },
  toClosed(id, text) {
    const [, , replaced = ''] = text.split(':');
    return { id, replaced: replaced.split(',').filter(Boolean) };
  },
};

export class Debounces extends EventGroups<DebouncePeriods, DebounceResult, FiredDebounce> {
  constructor(redis: ScriptedRedis, keys: Keyspace, leaseMs?: number) {
    super(redis, keys, { kind: DEBOUNCE, leaseMs });
  }
}

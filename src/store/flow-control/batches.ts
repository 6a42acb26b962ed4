/** Batches: a group of events that is also closed when it is full. */

import type { ScriptedRedis } from '../redis/connection/scripts.ts';
import type { Keyspace } from '../redis/keyspace/keyspace.ts';
import { EventGroups, type GroupKind } from './event-groups.ts';

/** Maximum size of the payloads in a batch; a single larger event is a batch by itself. */
const BATCH_MAX_BYTES = 10_485_760;
const ID_LENGTH = 26;
const ENTRY_LENGTH = 27;

/** The function's current limits. */
export interface BatchLimits {
  maxSize: number;
  timeoutMs: number;
}

export interface ClosedBatch {
  /** ID of its first event. */
  id: string;
  dueAt: number;
  eventIds: string[];
  /** Events that an earlier try may have added to another batch. */
  doubtful: string[];
}

const BATCH: GroupKind<BatchLimits, string, ClosedBatch> = {
  name: 'batch',
  takenAtOnce: 50,
  keys: (homeKeys, env, functionId) => [
    homeKeys.batches(env, functionId),
    homeKeys.batchTimes(env, functionId),
    // A later event does not move the time of its batch.
    homeKeys.batchTimes(env, functionId),
    homeKeys.closedBatches(env, functionId),
    homeKeys.closedBatchTimes(env, functionId),
    homeKeys.closedBatchEvents(env, functionId),
    homeKeys.batchTimerCheck(env, functionId),
  ],
  args: ({ maxSize, timeoutMs }) => [timeoutMs, '', maxSize, BATCH_MAX_BYTES],
  toAdded: (reply) => reply as string,
  toClosed(id, text) {
    const colon = text.indexOf(':');
    const entries = text.slice(colon + 1);
    const eventIds: string[] = [];
    const doubtful: string[] = [];
    for (let at = 0; at < entries.length; at += ENTRY_LENGTH) {
      const eventId = entries.slice(at, at + ID_LENGTH);
      eventIds.push(eventId);
      if (entries[at + ID_LENGTH] === '?') doubtful.push(eventId);
    }
    return { id, dueAt: Number(text.slice(1, colon)), eventIds, doubtful };
  },
};

/** The effect of an event is the ID of its batch. */
export class Batches extends EventGroups<BatchLimits, string, ClosedBatch> {
  constructor(redis: ScriptedRedis, keys: Keyspace, leaseMs?: number) {
    super(redis, keys, { kind: BATCH, leaseMs });
  }
}

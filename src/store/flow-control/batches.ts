/** Batches: IDs of events that will share one run, by function and key value. A batch is in the partition of its function and key value;
 *  its events may be in others. A batch is open until it is full or due; a closed batch stays until its run is created. */

import { chunksOf } from '../../model/values/chunks.ts';
import type { Keyspace, PartitionKeyspace } from '../redis/keyspace.ts';
import type { ScriptedRedis } from '../redis/scripts.ts';
import { type Look, type LookReply, recordLook, toLook, type WaitingFunction, waitingFunctions } from './looks.ts';

/** Maximum size of the payloads in a batch; a single larger event is a batch by itself. */
export const BATCH_MAX_BYTES = 10_485_760;
/** An event added this long after its ingest job began may have been added already, by another try. */
const DOUBT_AFTER_MS = 500;
/** How long a batch is remembered after its run was created: longer than events are added without doubt. */
const LINGER_MS = 2_000;
/** Maximum number of batches per look, so that one function does not delay others for long. */
const TAKEN_AT_ONCE = 50;
/** A worker that has not created the runs within this time counts as dead. */
const LEASE_MS = 10_000;
/** Maximum number of events per script, which blocks Redis for about a millisecond. */
const ADDED_AT_ONCE = 100;
const ID_LENGTH = 26;
const ENTRY_LENGTH = 27;

/** The function's current limits. */
export interface BatchLimits {
  maxSize: number;
  timeoutMs: number;
}

export interface BatchEntry {
  /** Value of the key. */
  key: string;
  eventId: string;
  /** Size of the payload in bytes. */
  bytes: number;
  /** Earliest start of the run, Unix milliseconds. */
  dueAt: number;
  /** An earlier try stored the event, and may have added it to a batch. */
  repeated: boolean;
}

export interface ClosedBatch {
  /** ID of its first event. */
  id: string;
  dueAt: number;
  eventIds: string[];
  /** Events that an earlier try may have added to another batch. */
  doubtful: string[];
}

export class Batches {
  readonly #redis: ScriptedRedis;
  readonly #keys: Keyspace;
  readonly #leaseMs: number;

  constructor(redis: ScriptedRedis, keys: Keyspace, leaseMs: number = LEASE_MS) {
    this.#redis = redis;
    this.#keys = keys;
    this.#leaseMs = leaseMs;
  }

  /** Adds each event to the open batch of its key, once.
   *  @param beganAt start of the ingest job, Unix milliseconds
   *  @returns IDs of the batches in the order of the events, and the looks to schedule */
  async add(
    env: string,
    functionId: string,
    { maxSize, timeoutMs }: BatchLimits,
    entries: readonly BatchEntry[],
    beganAt: number,
  ): Promise<{ batchIds: string[]; looks: Look[] }> {
    const batchIds = new Map<BatchEntry, string>();
    const looks: Look[] = [];
    const byHome = Map.groupBy(entries, ({ key }) => this.#keys.homeOf(`${env}/${functionId}/${key}`));
    for (const [home, ofHome] of byHome) {
      for (const some of chunksOf(ofHome, ADDED_AT_ONCE)) {
        const args = some.flatMap(({ key, eventId, bytes, dueAt, repeated }) => [
          key,
          eventId,
          bytes,
          dueAt,
          repeated ? 1 : 0,
        ]);
        const keys = keysOf(home, env, functionId);
        const limits = [maxSize, BATCH_MAX_BYTES, timeoutMs, beganAt, DOUBT_AFTER_MS];
        const reply = await this.#redis.addToBatches(...keys, ...limits, ...args);
        const [look, ...ids] = reply as [LookReply, ...string[]];
        some.forEach((entry, n) => {
          batchIds.set(entry, ids[n] as string);
        });
        looks.push(...lookIn(home, env, functionId, look));
      }
    }
    return { batchIds: entries.map((entry) => batchIds.get(entry) as string), looks };
  }

  /** Closes due batches, and leases closed ones, so that no other worker takes them for some seconds.
   *  @returns the look to schedule, unless the caller completes batches next */
  async take(
    partition: number,
    env: string,
    functionId: string,
    { maxSize, timeoutMs }: BatchLimits,
  ): Promise<{ batches: ClosedBatch[]; looks: Look[] }> {
    const home = this.#keys.partition(partition);
    const keys = keysOf(home, env, functionId);
    const reply = await this.#redis.takeBatches(...keys, maxSize, timeoutMs, TAKEN_AT_ONCE, this.#leaseMs);
    const [look, ...flat] = reply as [LookReply, ...string[]];
    const batches = Array.from({ length: flat.length / 2 }, (_, i) =>
      toClosedBatch(flat[2 * i] as string, flat[2 * i + 1] as string),
    );
    return { batches, looks: lookIn(home, env, functionId, look) };
  }

  /** Records that the runs of the batches were created. */
  async complete(
    partition: number,
    env: string,
    functionId: string,
    timeoutMs: number,
    ids: readonly string[],
  ): Promise<{ looks: Look[] }> {
    const home = this.#keys.partition(partition);
    const keys = keysOf(home, env, functionId);
    const look = (await this.#redis.completeBatches(...keys, timeoutMs, LINGER_MS, ...ids)) as LookReply;
    return { looks: lookIn(home, env, functionId, look) };
  }

  /** Call after enqueueing the job of the look. */
  recordLook(look: Look): Promise<void> {
    return recordLook(this.#redis, look);
  }

  /** Functions with open batches, and their partitions. */
  waiting(env: string, functionIds: readonly string[]): Promise<WaitingFunction[]> {
    return waitingFunctions(this.#redis, this.#keys, functionIds, (home, functionId) => home.batches(env, functionId));
  }
}

type BatchScriptKeys = [string, string, string, string, string, string];

function keysOf(home: PartitionKeyspace, env: string, functionId: string): BatchScriptKeys {
  return [
    home.batches(env, functionId),
    home.batchTimes(env, functionId),
    home.closedBatches(env, functionId),
    home.closedBatchTimes(env, functionId),
    home.closedBatchEvents(env, functionId),
    home.batchLook(env, functionId),
  ];
}

function lookIn(home: PartitionKeyspace, env: string, functionId: string, reply: LookReply): Look[] {
  const look = toLook(reply, home.batchLook(env, functionId), home.number);
  return look ? [look] : [];
}

/** Reads the format of lua/lib/batch.lua. */
function toClosedBatch(id: string, text: string): ClosedBatch {
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
}

/** Debounces: among the events of a function with the same key value, keeps the latest until no later one has come for a period. A
 *  debounce is in the partition of its function and key value; its events may be in others. A fired debounce stays until its run is
 *  created. */

import { chunksOf } from '../../model/values/chunks.ts';
import type { Keyspace, PartitionKeyspace } from '../redis/keyspace.ts';
import type { ScriptedRedis } from '../redis/scripts.ts';
import { type Look, type LookReply, recordLook, toLook, type WaitingFunction, waitingFunctions } from './looks.ts';

/** An event added this long after its ingest job began may have been handled already, by another try. */
const DOUBT_AFTER_MS = 500;
/** How long a repeated ingest job finds out that the debounce of its event has fired. */
const REMEMBERED_MS = 600_000;
/** Maximum number of debounces per look, so that one function does not delay others for long. */
const TAKEN_AT_ONCE = 100;
/** A worker that has not created the runs within this time counts as dead. */
const LEASE_MS = 10_000;
/** Maximum number of events per script, which blocks Redis for about a millisecond. */
const ADDED_AT_ONCE = 100;

/** The function's current periods. */
export interface DebouncePeriods {
  periodMs: number;
  timeoutMs?: number;
}

export interface DebounceEntry {
  /** Value of the key. */
  key: string;
  eventId: string;
  ts: number;
  /** An earlier try stored the event, and may have handled it. */
  repeated: boolean;
}

/** Effect of an event. `eventId`: the event that it replaces, the event that replaced it, or the one with which the debounce fired. */
export type DebounceResult = { outcome: 'waits' } | { outcome: 'replaces' | 'replaced' | 'fired'; eventId: string };

export interface FiredDebounce {
  /** ID of the latest event. */
  eventId: string;
  ts: number;
  /** The last events that were replaced. */
  replaced: string[];
}

export class Debounces {
  readonly #redis: ScriptedRedis;
  readonly #keys: Keyspace;
  readonly #leaseMs: number;

  constructor(redis: ScriptedRedis, keys: Keyspace, leaseMs: number = LEASE_MS) {
    this.#redis = redis;
    this.#keys = keys;
    this.#leaseMs = leaseMs;
  }

  /** @param beganAt start of the ingest job, Unix milliseconds
   *  @returns results in the order of the events, and the looks to schedule */
  async add(
    env: string,
    functionId: string,
    { periodMs, timeoutMs = '' }: { periodMs: number; timeoutMs?: number | '' },
    entries: readonly DebounceEntry[],
    beganAt: number,
  ): Promise<{ results: DebounceResult[]; looks: Look[] }> {
    const results = new Map<DebounceEntry, DebounceResult>();
    const looks: Look[] = [];
    const byHome = Map.groupBy(entries, ({ key }) => this.#keys.homeOf(`${env}/${functionId}/${key}`));
    for (const [home, ofHome] of byHome) {
      for (const some of chunksOf(ofHome, ADDED_AT_ONCE)) {
        const args = some.flatMap(({ key, eventId, ts, repeated }) => [key, eventId, ts, repeated ? 1 : 0]);
        const keys = keysOf(home, env, functionId);
        const facts = [functionId, home.lastDebounce(env, ''), periodMs, timeoutMs, beganAt, DOUBT_AFTER_MS];
        const reply = await this.#redis.addToDebounces(...keys, ...facts, ...args);
        const [look, ...outcomes] = reply as [LookReply, ...[DebounceResult['outcome'], string?][]];
        some.forEach((entry, n) => {
          const [outcome, eventId] = outcomes[n] as [DebounceResult['outcome'], string?];
          results.set(entry, { outcome, eventId } as DebounceResult);
        });
        looks.push(...lookIn(home, env, functionId, look));
      }
    }
    return { results: entries.map((entry) => results.get(entry) as DebounceResult), looks };
  }

  /** Fires due debounces, and leases fired ones, so that no other worker takes them for some seconds.
   *  @returns the look to schedule, unless the caller completes debounces next */
  async take(
    partition: number,
    env: string,
    functionId: string,
    { periodMs, timeoutMs }: DebouncePeriods,
  ): Promise<{ fired: FiredDebounce[]; looks: Look[] }> {
    const home = this.#keys.partition(partition);
    const reply = await this.#redis.takeDebounces(
      ...keysOf(home, env, functionId),
      functionId,
      home.lastDebounce(env, ''),
      periodMs,
      timeoutMs ?? '',
      TAKEN_AT_ONCE,
      this.#leaseMs,
      REMEMBERED_MS,
    );
    const [look, ...texts] = reply as [LookReply, ...string[]];
    return { fired: texts.map(toFired), looks: lookIn(home, env, functionId, look) };
  }

  /** Records that the runs of the debounces were created. */
  async complete(
    partition: number,
    env: string,
    functionId: string,
    { periodMs, timeoutMs }: DebouncePeriods,
    eventIds: readonly string[],
  ): Promise<{ looks: Look[] }> {
    const home = this.#keys.partition(partition);
    const keys = keysOf(home, env, functionId);
    const look = (await this.#redis.completeDebounces(...keys, periodMs, timeoutMs ?? '', ...eventIds)) as LookReply;
    return { looks: lookIn(home, env, functionId, look) };
  }

  /** Call after enqueueing the job of the look. */
  recordLook(look: Look): Promise<void> {
    return recordLook(this.#redis, look);
  }

  /** Functions with open debounces, and their partitions. */
  waiting(env: string, functionIds: readonly string[]): Promise<WaitingFunction[]> {
    return waitingFunctions(this.#redis, this.#keys, functionIds, (home, functionId) =>
      home.debounces(env, functionId),
    );
  }
}

type DebounceScriptKeys = [string, string, string, string, string, string];

function keysOf(home: PartitionKeyspace, env: string, functionId: string): DebounceScriptKeys {
  return [
    home.debounces(env, functionId),
    home.debounceTimes(env, functionId),
    home.debounceStarts(env, functionId),
    home.firedDebounces(env, functionId),
    home.firedDebounceTimes(env, functionId),
    home.debounceLook(env, functionId),
  ];
}

function lookIn(home: PartitionKeyspace, env: string, functionId: string, reply: LookReply): Look[] {
  const look = toLook(reply, home.debounceLook(env, functionId), home.number);
  return look ? [look] : [];
}

/** Reads the format of lua/lib/debounce.lua. */
function toFired(text: string): FiredDebounce {
  const [ts, eventId = '', replaced = ''] = text.split(':');
  return { eventId, ts: Number(ts), replaced: replaced.split(',').filter(Boolean) };
}

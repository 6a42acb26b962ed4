/** Debounces: of the events of a function with the same value of the key, the latest, until no later one has come for a while. All of a debounce is in the
 *  partition that function and value name, its events may be in others. One that has fired stays until its run is created. */

import { chunksOf } from '../../model/values/chunks.ts';
import type { Keyspace, PartitionKeyspace } from '../redis/keyspace.ts';
import type { ScriptedRedis } from '../redis/scripts.ts';
import { type Look, type LookReply, recordLook, toLook, type WaitingFunction, waitingFunctions } from './looks.ts';

/** An event that is added so long after its ingest job began may have been decided about by another try. */
const DOUBT_AFTER_MS = 500;
/** How long a repeated ingest job finds that the debounce of its event has fired. */
const REMEMBERED_MS = 600_000;
/** Debounces that one look takes: many of one function delay no others for long. */
const TAKEN_AT_ONCE = 100;
/** A worker that has not created the runs by then counts as dead. */
const LEASE_MS = 10_000;
/** Redis does nothing else for a millisecond. */
const ADDED_AT_ONCE = 100;

/** The periods of the function now. */
export interface DebouncePeriods {
  periodMs: number;
  timeoutMs?: number;
}

export interface DebounceEntry {
  /** Value of the key. */
  key: string;
  eventId: string;
  ts: number;
  /** An earlier try stored the event, and may have decided about it. */
  repeated: boolean;
}

/** The effect of an event. `eventId`: of the event that it replaces, that replaced it, or with which the debounce has fired. */
export type DebounceResult = { outcome: 'waits' } | { outcome: 'replaces' | 'replaced' | 'fired'; eventId: string };

export interface FiredDebounce {
  /** ID of the latest event. */
  eventId: string;
  ts: number;
  /** The last events that it replaced. */
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

  /** @param beganAt when the work on the events began, Unix milliseconds
   *  @returns in the order of the events, and the looks to be set */
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

  /** Fires what is due, and takes what has fired: no other worker does for some seconds.
   *  @returns the look to be set unless debounces are completed next */
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

  /** The runs of the debounces are created. */
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

  /** Call once the job of the look is enqueued. */
  recordLook(look: Look): Promise<void> {
    return recordLook(this.#redis, look);
  }

  /** Which of the functions have open debounces, and in which partitions. */
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

/** As lua/lib/debounce.lua writes it. */
function toFired(text: string): FiredDebounce {
  const [ts, eventId = '', replaced = ''] = text.split(':');
  return { eventId, ts: Number(ts), replaced: replaced.split(',').filter(Boolean) };
}

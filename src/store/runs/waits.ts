/** Waits for events. A wait whose expression requires one value of one field is found by that value; all other waits of an event name are
 *  evaluated. A wait is stored only while its run is active, and is removed by whatever ends the run: `waitsOfRun` says which keys hold it. */

import { runOfWait, type Wait } from '../../model/runs/wait.ts';
import { digestOf, type Path, valueAt } from '../../model/runs/wait-index.ts';
import { MAX_WAIT_MS } from '../../model/values/duration.ts';
import { replies } from '../redis/connection.ts';
import type { Keyspace } from '../redis/keyspace.ts';
import type { ScriptedPipeline, ScriptedRedis } from '../redis/scripts.ts';

/** Fields by which the waits of a name are found, at most: an event asks for each. */
const PATHS_MAX = 16;
/** How long a place outlives the time-out of its last wait. Nothing should be there by then. */
const MARGIN_MS = 86_400_000;
/** The same without a time-out, and with one that no wait of a step can have. */
const ENDLESS_MS = MAX_WAIT_MS + MARGIN_MS;
/** Waits that are stored in one script: a run may have fifty triggers that cancel it, and each wait is four keys. */
const ADDED_AT_ONCE = 250;
/** Waits that are read at once. */
const READ_AT_ONCE = 500;

export interface StoredWait {
  key: string;
  wait: Wait;
}

export interface NewWait extends StoredWait {
  eventName: string;
  /** What must hold of the event; undefined: the expression does not say. */
  equality?: { path: Path; digest: string } | undefined;
}

/** Waits of one name that an event may meet, of those of a batch. */
export interface Candidates<Arrival> {
  name: string;
  waits: StoredWait[];
  /** In the order of the batch. */
  events: Arrival[];
}

export class Waits {
  readonly #redis: ScriptedRedis;
  readonly #keys: Keyspace;

  constructor(redis: ScriptedRedis, keys: Keyspace) {
    this.#redis = redis;
    this.#keys = keys;
  }

  /** @returns those whose run is active, and which are stored now */
  async add(env: string, waits: readonly NewWait[], nowMs: number): Promise<NewWait[]> {
    const pipeline = this.#redis.pipeline();
    for (let i = 0; i < waits.length; i += ADDED_AT_ONCE) {
      this.#add(pipeline, env, waits.slice(i, i + ADDED_AT_ONCE), nowMs);
    }
    const stored = waits.length > 0 ? replies<number[]>(await pipeline.exec()).flat() : [];
    return waits.filter((_, i) => stored[i] === 1);
  }

  #add(pipeline: ScriptedPipeline, env: string, waits: readonly NewWait[], nowMs: number): void {
    const keys = waits.flatMap(({ wait, eventName, equality }) => [
      this.#keys.run(env, wait.runId),
      this.#keys.waits(env, eventName),
      this.#keys.waitsByValue(env, equality?.digest ?? '', eventName),
      this.#keys.waitPaths(env, eventName),
    ]);
    const rows = waits.flatMap(({ key, wait, equality }) => [
      key,
      JSON.stringify(wait),
      equality ? JSON.stringify(equality.path) : '',
      keptMs(wait, nowMs),
    ]);
    pipeline.addWaits(keys.length, ...keys, PATHS_MAX, ...rows);
  }

  async remove(env: string, key: string): Promise<void> {
    await this.#redis.removeWait(this.#keys.run(env, runOfWait(key)), key);
  }

  /** What the arrivals may meet, a bounded number at a time; nothing is read twice.
   *  @param read gives an arrival's event as expressions see it (`async`) */
  async *candidates<Arrival extends { name: string }>(
    env: string,
    arrivals: readonly Arrival[],
    read: (arrival: Arrival) => unknown,
  ): AsyncGenerator<Candidates<Arrival>> {
    const byName = Map.groupBy(arrivals, ({ name }) => name);
    const pipeline = this.#redis.pipeline();
    for (const name of byName.keys()) {
      pipeline.hkeys(this.#keys.waitPaths(env, name));
      pipeline.hscan(this.#keys.waits(env, name), 0, 'COUNT', READ_AT_ONCE);
    }
    const found = replies<unknown>(await pipeline.exec());
    const places = new Map<string, Candidates<Arrival> & { cursor: string }>();
    for (const [i, [name, ofName]] of [...byName].entries()) {
      const [cursor, flat] = found[2 * i + 1] as Scanned;
      places.set(this.#keys.waits(env, name), { name, events: ofName, cursor, waits: toWaits(flat) });
      const paths = (found[2 * i] as string[]).map((path) => JSON.parse(path) as Path);
      for (const [digest, having] of byDigest(ofName, paths, read)) {
        places.set(this.#keys.waitsByValue(env, digest, name), { name, events: having, cursor: '', waits: [] });
      }
    }
    for (let open = [...places]; open.length > 0; ) {
      for (const [, { name, waits, events: some }] of open) if (waits.length > 0) yield { name, waits, events: some };
      open = await this.#next(open.filter(([, { cursor }]) => cursor !== '0'));
    }
  }

  async #next<Place extends { cursor: string; waits: StoredWait[] }>(
    open: [string, Place][],
  ): Promise<[string, Place][]> {
    if (open.length === 0) return [];
    const pipeline = this.#redis.pipeline();
    for (const [key, { cursor }] of open) pipeline.hscan(key, cursor || 0, 'COUNT', READ_AT_ONCE);
    const found = replies<Scanned>(await pipeline.exec());
    return open.map(([key, place], i) => {
      const [cursor, flat] = found[i] as Scanned;
      return [key, { ...place, cursor, waits: toWaits(flat) }];
    });
  }
}

type Scanned = [cursor: string, flat: string[]];

function toWaits(flat: readonly string[]): StoredWait[] {
  return Array.from({ length: flat.length / 2 }, (_, i) => ({
    key: flat[2 * i] as string,
    wait: JSON.parse(flat[2 * i + 1] as string) as Wait,
  }));
}

function byDigest<Arrival>(
  arrivals: readonly Arrival[],
  paths: readonly Path[],
  read: (arrival: Arrival) => unknown,
): Map<string, Arrival[]> {
  const having = new Map<string, Arrival[]>();
  for (const path of paths) {
    for (const arrival of arrivals) {
      const digest = digestOf(path, valueAt(read(arrival), path));
      if (digest === undefined) continue;
      const some = having.get(digest);
      if (some) some.push(arrival);
      else having.set(digest, [arrival]);
    }
  }
  return having;
}

function keptMs({ until }: Wait, nowMs: number): number {
  const left = until === undefined ? ENDLESS_MS : Math.max(0, until - nowMs) + MARGIN_MS;
  return Math.min(Math.ceil(left), ENDLESS_MS);
}

/** Waits for events. A wait whose expression requires one value of one field is found by that value; all other waits of an event name are
 *  evaluated. A wait is stored only while its run is active, and is removed by whatever ends the run: `waitsOfRun` says which keys hold it. */

import { runOfWait, type Wait } from '../../model/runs/wait.ts';
import { digestOf, type Path, valueAt } from '../../model/runs/wait-index.ts';
import { MAX_WAIT_MS } from '../../model/values/duration.ts';
import { replies } from '../redis/connection.ts';
import type { Keyspace } from '../redis/keyspace.ts';
import type { ScriptedPipeline, ScriptedRedis } from '../redis/scripts.ts';

/** Maximum number of fields by whose value the waits of a name are found: each event looks up every one of them. */
const PATHS_MAX = 16;
/** How long a key outlives the timeout of its last wait. It should be empty by then. */
const MARGIN_MS = 86_400_000;
/** The TTL for waits without a timeout, and the longest of all. */
const MAX_TTL_MS = MAX_WAIT_MS + MARGIN_MS;
/** Waits that one script stores: a run may have fifty triggers that cancel it, and each wait has four keys. */
const ADDED_AT_ONCE = 250;
/** Waits per read. */
const READ_AT_ONCE = 500;

export interface StoredWait {
  key: string;
  wait: Wait;
}

export interface NewWait extends StoredWait {
  eventName: string;
  /** Value that one field of the event must have; undefined: the expression requires none. */
  equality?: { path: Path; digest: string } | undefined;
}

/** Waits of one event name, and the events of a batch that may meet them. */
export interface Candidates<ReceivedEvent> {
  name: string;
  waits: StoredWait[];
  /** In the order of the batch. */
  events: ReceivedEvent[];
}

export class Waits {
  readonly #redis: ScriptedRedis;
  readonly #keys: Keyspace;

  constructor(redis: ScriptedRedis, keys: Keyspace) {
    this.#redis = redis;
    this.#keys = keys;
  }

  /** @returns the waits whose run is active, which are now stored */
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
      ttlOf(wait, nowMs),
    ]);
    pipeline.addWaits(keys.length, ...keys, PATHS_MAX, ...rows);
  }

  /** Whether a run waits for an event of this name, or is canceled by one. */
  async areAny(env: string, eventName: string): Promise<boolean> {
    return (await this.#redis.exists(this.#keys.waits(env, eventName), this.#keys.waitPaths(env, eventName))) > 0;
  }

  async remove(env: string, key: string): Promise<void> {
    await this.#redis.removeWait(this.#keys.run(env, runOfWait(key)), key);
  }

  /** Waits that the events may meet, a bounded number at a time, each once.
   *  @param read returns an event as expressions see it (`async`) */
  async *candidates<ReceivedEvent extends { name: string }>(
    env: string,
    events: readonly ReceivedEvent[],
    read: (event: ReceivedEvent) => unknown,
  ): AsyncGenerator<Candidates<ReceivedEvent>> {
    const byName = Map.groupBy(events, ({ name }) => name);
    // Commands of one turn share a write; a pipeline costs more than they do.
    const found = await Promise.all(
      [...byName.keys()].flatMap((name): Promise<unknown>[] => [
        this.#redis.hkeys(this.#keys.waitPaths(env, name)),
        this.#redis.hscan(this.#keys.waits(env, name), 0, 'COUNT', READ_AT_ONCE),
      ]),
    );
    const keysToRead = new Map<string, Candidates<ReceivedEvent> & { cursor: string }>();
    for (const [i, [name, ofName]] of [...byName].entries()) {
      const [cursor, flat] = found[2 * i + 1] as Scanned;
      keysToRead.set(this.#keys.waits(env, name), { name, events: ofName, cursor, waits: toWaits(flat) });
      const paths = (found[2 * i] as string[]).map((path) => JSON.parse(path) as Path);
      for (const [digest, having] of byDigest(ofName, paths, read)) {
        keysToRead.set(this.#keys.waitsByValue(env, digest, name), { name, events: having, cursor: '', waits: [] });
      }
    }
    for (let open = [...keysToRead]; open.length > 0; ) {
      for (const [, { name, waits, events: some }] of open) if (waits.length > 0) yield { name, waits, events: some };
      open = await this.#next(open.filter(([, { cursor }]) => cursor !== '0'));
    }
  }

  async #next<Read extends { cursor: string; waits: StoredWait[] }>(open: [string, Read][]): Promise<[string, Read][]> {
    if (open.length === 0) return [];
    const pipeline = this.#redis.pipeline();
    for (const [key, { cursor }] of open) pipeline.hscan(key, cursor || 0, 'COUNT', READ_AT_ONCE);
    const found = replies<Scanned>(await pipeline.exec());
    return open.map(([key, read], i) => {
      const [cursor, flat] = found[i] as Scanned;
      return [key, { ...read, cursor, waits: toWaits(flat) }];
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

function byDigest<ReceivedEvent>(
  events: readonly ReceivedEvent[],
  paths: readonly Path[],
  read: (event: ReceivedEvent) => unknown,
): Map<string, ReceivedEvent[]> {
  const having = new Map<string, ReceivedEvent[]>();
  for (const path of paths) {
    for (const event of events) {
      const digest = digestOf(path, valueAt(read(event), path));
      if (digest === undefined) continue;
      const some = having.get(digest);
      if (some) some.push(event);
      else having.set(digest, [event]);
    }
  }
  return having;
}

export function ttlOf({ until }: { until?: number | undefined }, nowMs: number): number {
  const left = until === undefined ? MAX_TTL_MS : Math.max(0, until - nowMs) + MARGIN_MS;
  return Math.min(Math.ceil(left), MAX_TTL_MS);
}

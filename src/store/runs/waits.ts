/** Waits for events. A wait whose expression requires a value of one field is found by that value; all other waits for an event name are
 *  evaluated. A wait is stored only while its run is active, and removed when the run ends: `waitsOfRun` says which keys hold it. */

import { LRUCache } from 'lru-cache';
import type { Path } from '../../model/expressions/paths.ts';
import { runOfWait } from '../../model/runs/wait.ts';
import { chunksOf } from '../../model/values/chunks.ts';
import { DAY_MS, MAX_WAIT_MS } from '../../model/values/time.ts';
import { CoalescedRead } from '../redis/caching/coalesced-read.ts';
import { inPipelines, replies } from '../redis/connection/connection.ts';
import type { ScriptedPipeline } from '../redis/connection/scripts.ts';
import type { PartitionKeyspace } from '../redis/keyspace/keyspace.ts';
import { Repository } from '../redis/repository.ts';
import type { StoredWait } from './possible-waits.ts';
import { type RemoteWait, readRemote, remoteWait, writeRemote } from './wait-location.ts';

/** Maximum number of indexed fields per event name: each event looks up all of them. */
const PATHS_MAX = 16;
/** How long a key outlives the timeout of its last wait, when it should be empty. */
const MARGIN_MS = DAY_MS;
/** TTL for waits without a timeout, and the longest TTL of all. */
const MAX_TTL_MS = MAX_WAIT_MS + MARGIN_MS;
/** Maximum number of waits per script: a run may have fifty cancel triggers, and each wait has four keys. */
const ADDED_AT_ONCE = 250;
/** Maximum number of event names whose reads are shared. */
const NAMES_MAX = 1_000;

export interface NewWait extends StoredWait {
  eventName: string;
  /** Value that a field of the event must have; undefined if the expression requires none. */
  equality?: { path: Path; digest: string } | undefined;
}

export class Waits extends Repository {
  readonly #areAny = new LRUCache<string, CoalescedRead<boolean>>({ max: NAMES_MAX });

  /** @returns the waits whose run is active, now stored */
  async add(env: string, waits: readonly NewWait[], nowMs: number): Promise<NewWait[]> {
    const located = waits.map((added) => {
      const [homeKeys] = this.keys.homesOf(env, added.eventName);
      return { added, homeKeys, ofRun: this.keys.of(added.wait.runId) };
    });
    const stored = new Set<NewWait>();
    const local = located.filter(({ homeKeys, ofRun }) => homeKeys === ofRun);
    for (const ofPartition of Map.groupBy(local, ({ homeKeys }) => homeKeys.number).values()) {
      const [{ homeKeys }] = ofPartition as [(typeof ofPartition)[0]];
      const added = ofPartition.map((wait) => wait.added);
      for (const wait of await this.#addLocal(homeKeys, env, added, nowMs)) stored.add(wait);
    }
    const remote = located.filter(({ homeKeys, ofRun }) => homeKeys !== ofRun);
    for (const some of chunksOf(remote, ADDED_AT_ONCE)) {
      for (const wait of await this.#addRemote(env, some, nowMs)) stored.add(wait);
    }
    return waits.filter((wait) => stored.has(wait));
  }

  /** Stores waits in the partition of their runs. */
  async #addLocal(keys: PartitionKeyspace, env: string, waits: readonly NewWait[], nowMs: number): Promise<NewWait[]> {
    const pipeline = this.redis.pipeline();
    for (const some of chunksOf(waits, ADDED_AT_ONCE)) this.#add(pipeline, keys, env, some, nowMs);
    const stored = replies<number[]>(await pipeline.exec()).flat();
    return waits.filter((_, i) => stored[i] === 1);
  }

  #add(
    pipeline: ScriptedPipeline,
    ofPartition: PartitionKeyspace,
    env: string,
    waits: readonly NewWait[],
    nowMs: number,
  ): void {
    const keys = waits.flatMap(({ wait, eventName, equality }) => [
      ofPartition.run(env, wait.runId),
      ofPartition.waits(env, eventName),
      ofPartition.waitsByValue(env, equality?.digest ?? '', eventName),
      ofPartition.waitPaths(env, eventName),
    ]);
    const rows = waits.flatMap(({ key, wait, equality }) => [
      key,
      JSON.stringify(wait),
      pathOf(equality),
      ttlOf(wait, nowMs),
    ]);
    pipeline.addWaits(keys.length, ...keys, PATHS_MAX, ...rows);
  }

  /** Stores waits in other partitions than their runs: registers them first, so that the end of a run removes each, even one stored
   *  later. Waits left over by a dead process match no active run, and are then removed. */
  async #addRemote(
    env: string,
    waits: readonly { added: NewWait; homeKeys: PartitionKeyspace; ofRun: PartitionKeyspace }[],
    nowMs: number,
  ): Promise<NewWait[]> {
    const located = waits.map((wait) => locate(env, wait));
    const active = await this.#register(env, located);
    await this.#storeRemote(active, nowMs);
    return active.map(({ added }) => added);
  }

  /** Whether waits of the run for this event name are in another partition than the run. */
  areRemote(env: string, runId: string, eventName: string): boolean {
    const [homeKeys] = this.keys.homesOf(env, eventName);
    return homeKeys !== this.keys.of(runId);
  }

  /** Restores waits of an active run that a failover has lost: waits in another partition than the run, which the run has registered at
   *  their present location. A step may have begun without its wait.
   *  @returns the missing waits, now stored */
  async restore(env: string, runId: string, waits: readonly NewWait[], nowMs: number): Promise<NewWait[]> {
    const ofRun = this.keys.of(runId);
    const located = waits.flatMap((added) => {
      const [homeKeys] = this.keys.homesOf(env, added.eventName);
      return homeKeys === ofRun ? [] : [locate(env, { added, homeKeys, ofRun })];
    });
    if (located.length === 0) return [];
    const keys = located.map(({ added }) => added.key);
    const known = await this.redis.hmget(ofRun.waitsOfRun(env, runId), ...keys);
    const expected = located.filter(({ added, location }, i) => {
      return known[i] === null ? added.wait.stepId !== undefined : known[i] === writeRemote(location);
    });
    const active = await this.#register(env, expected);
    const stored = await this.#storeRemote(active, nowMs);
    return active.flatMap(({ added }, i) => (stored[i] === 1 ? [added] : []));
  }

  /** @returns the waits whose run is active */
  async #register(env: string, waits: readonly LocatedWait[]): Promise<LocatedWait[]> {
    const commands = waits.map(({ added: { key, wait }, ofRun, location }) => {
      return ['registerWait', ofRun.run(env, wait.runId), key, writeRemote(location)];
    });
    const registered = await inPipelines<number>(this.redis, commands);
    return waits.filter((_, i) => registered[i] === 1);
  }

  /** @returns for each 1: stored; 0: it was stored before */
  #storeRemote(waits: readonly LocatedWait[], nowMs: number): Promise<number[]> {
    return inPipelines<number>(
      this.redis,
      waits.map(({ added: { key, wait }, location: { byName, byValue, paths, path } }) => {
        return ['storeWait', byName, byValue, paths, PATHS_MAX, key, JSON.stringify(wait), path, ttlOf(wait, nowMs)];
      }),
    );
  }

  /** Whether any run waits for events of this name, or is cancelled by them. Many concurrent calls share a few reads. */
  async areAny(env: string, eventName: string): Promise<boolean> {
    const name = `${env}/${eventName}`;
    const read = this.#areAny.get(name) ?? new CoalescedRead(() => this.#readAny(env, eventName), 0);
    this.#areAny.set(name, read);
    return read.get();
  }

  async #readAny(env: string, eventName: string): Promise<boolean> {
    const counts = await inPipelines<number>(
      this.redis,
      this.keys.homesOf(env, eventName).map((keys) => {
        return ['exists', keys.waits(env, eventName), keys.waitPaths(env, eventName)];
      }),
    );
    return counts.some((count) => count > 0);
  }

  /** @param foundAt where the wait was found, if known: the run may have ended without it */
  async remove(env: string, key: string, foundAt?: RemoteWait): Promise<void> {
    const runId = runOfWait(key);
    const { run, waitsOfRun } = this.keys.of(runId);
    if (this.keys.all().length > 1) {
      const location = await this.redis.hget(waitsOfRun(env, runId), key);
      const remote = location === null ? foundAt : readRemote(location);
      if (remote) await this.removeRemote([[key, remote]]);
    }
    await this.redis.removeWait(run(env, runId), key);
  }

  /** Removes waits of runs in other partitions. */
  async removeRemote(waits: readonly (readonly [key: string, RemoteWait])[]): Promise<void> {
    const commands = waits.map(([key, { byName, byValue, paths, path }]) => {
      return ['removeStoredWait', byName, byValue, paths, key, path];
    });
    await inPipelines(this.redis, commands);
  }
}

/** A wait in another partition than its run. */
interface LocatedWait {
  added: NewWait;
  ofRun: PartitionKeyspace;
  location: RemoteWait;
}

function locate(
  env: string,
  { added, homeKeys, ofRun }: { added: NewWait; homeKeys: PartitionKeyspace; ofRun: PartitionKeyspace },
): LocatedWait {
  const { eventName, equality } = added;
  return {
    added,
    ofRun,
    location: remoteWait(homeKeys, env, { eventName, digest: equality?.digest, path: pathOf(equality) }),
  };
}

function pathOf(equality: NewWait['equality']): string {
  return equality ? JSON.stringify(equality.path) : '';
}

export function ttlOf({ until }: { until?: number | undefined }, nowMs: number): number {
  const left = until === undefined ? MAX_TTL_MS : Math.max(0, until - nowMs) + MARGIN_MS;
  return Math.min(Math.ceil(left), MAX_TTL_MS);
}

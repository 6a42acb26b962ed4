/** Indexes of an environment's events: one per name, and per minute the number of events by name, which tells which indexes to read.
 *  Together they form the list of all events. */
import type { Envelope } from '../../model/events/event.ts';
import { addTo } from '../../model/values/counting.ts';
import { sum } from '../../model/values/sum.ts';
import { floorTo, MINUTE_MS } from '../../model/values/time.ts';
import { inPipelines, type ScriptedPipeline, type ScriptedRedis } from '../redis/connection/connection.ts';
import type { Keyspace, PartitionKeyspace } from '../redis/keyspace/keyspace.ts';
import { Repository } from '../redis/repository.ts';

/** Number of minutes in the first read, and the growth factor of later reads. */
const MINUTES_FIRST = 4;
const MINUTES_GROWTH = 4;
const MINUTES_MAX = 1_000;

/** Field of the total: the empty name, which no event has. */
const TOTAL = '';

/** Number of events by name. */
export type MinuteBucket = Map<string, number>;

/** The names within a range of minutes. */
export interface MinuteRange {
  names: string[];
  /** Start of the first minute, Unix milliseconds. */
  from: number;
}

export class EventsByMinute extends Repository<ScriptedRedis, { retentionMs: number }> {
  /** Adds events to the indexes of their names, and counts each once.
   *  @returns the events whose names may have waits */
  async add(events: readonly Envelope[], nowMs: number): Promise<Envelope[]> {
    const groups = [...groupsOf(this.keys, events)];
    const waits = await Promise.all(groups.map((group) => this.redis.indexEvents(...this.#indexing(group, nowMs))));
    return this.#mayHaveWaits(groups, waits);
  }

  /** Like `add`, as part of a pipeline.
   *  @returns a function that takes the replies of the pipeline, and returns the events whose names may have waits */
  addTo(pipeline: ScriptedPipeline, events: readonly Envelope[], nowMs: number): (replies: unknown[]) => Envelope[] {
    const groups = [...groupsOf(this.keys, events)];
    const start = pipeline.length;
    for (const group of groups) pipeline.indexEvents(...this.#indexing(group, nowMs));
    return (all) => this.#mayHaveWaits(groups, all.slice(start));
  }

  /** Waits for a name that may be in another partition are unknown here, so its events are included.
   *  @param waits the reply of `indexEvents` for each group: 0 if its partition has no waits for the name */
  #mayHaveWaits(groups: readonly Group[], waits: readonly unknown[]): Envelope[] {
    return groups.flatMap(({ env, name, keys, events }, i) => {
      const isElsewhere = this.keys.homesOf(env, name).some((home) => home !== keys);
      return isElsewhere || waits[i] !== 0 ? events : [];
    });
  }

  /** Arguments of `indexEvents`. */
  #indexing({ keys, env, name, minute, lastAt, members }: Group, nowMs: number): (string | number)[] {
    return [
      keys.eventIndex(env, name),
      keys.eventsByMinute(env, minute),
      keys.eventMinutes(env),
      keys.eventNames(env),
      keys.waits(env, name),
      keys.waitPaths(env, name),
      name,
      minute,
      minute + MINUTE_MS + this.deps.retentionMs,
      nowMs,
      this.deps.retentionMs,
      lastAt,
      ...members,
    ];
  }

  /** The minutes before a time that together hold at least `enough` events, no further back than `oldest`.
   *  @returns undefined if there are none */
  async before(env: string, timeMs: number | '+inf', oldest: number, enough: number): Promise<MinuteRange | undefined> {
    const names = new Set<string>();
    let from: number | undefined;
    let count = 0;
    // Every partition is read for each minute.
    const first = this.keys.all().length > 1 ? 1 : MINUTES_FIRST;
    for (let size = first; count < enough; size = Math.min(size * MINUTES_GROWTH, MINUTES_MAX)) {
      const top = from === undefined ? timeMs : `(${from}`;
      const minutes = await this.#newestMinutes(env, top, floorTo(oldest, MINUTE_MS), size);
      for (const minute of await this.read(env, minutes)) {
        for (const [name, number] of minute) {
          names.add(name);
          count += number;
        }
      }
      if (minutes.length > 0) from = minutes.at(-1);
      if (minutes.length < size) break;
    }
    return from === undefined ? undefined : { names: [...names], from };
  }

  /** Minutes with events that overlap the time range, in order. */
  async minutes(env: string, from: number, to: number): Promise<number[]> {
    const commands = this.keys.all().map((keys) => {
      return ['zrangebyscore', keys.eventMinutes(env), floorTo(from, MINUTE_MS), `(${to}`];
    });
    return distinct(await inPipelines<string[]>(this.redis, commands)).sort((a, b) => a - b);
  }

  /** The newest minutes of all partitions, newest first. */
  async #newestMinutes(env: string, top: number | string, oldest: number, limit: number): Promise<number[]> {
    const commands = this.keys.all().map((keys) => {
      return ['zrevrangebyscore', keys.eventMinutes(env), top, oldest, 'LIMIT', 0, limit];
    });
    const minutes = distinct(await inPipelines<string[]>(this.redis, commands));
    return minutes.sort((a, b) => b - a).slice(0, limit);
  }

  async read(env: string, minutes: readonly number[]): Promise<MinuteBucket[]> {
    const partitions = this.keys.all();
    const commands = minutes.flatMap((minute) =>
      partitions.map((keys) => ['hgetall', keys.eventsByMinute(env, minute)]),
    );
    const hashes = await inPipelines<Record<string, string>>(this.redis, commands);
    return minutes.map((_, i) => {
      const bucket: MinuteBucket = new Map();
      for (const { [TOTAL]: _total, ...names } of hashes.slice(i * partitions.length, (i + 1) * partitions.length)) {
        for (const [name, count] of Object.entries(names)) addTo(bucket, name, Number(count));
      }
      return bucket;
    });
  }

  async counts(env: string, minutes: readonly number[]): Promise<number[]> {
    const partitions = this.keys.all();
    const commands = minutes.flatMap((minute) =>
      partitions.map((keys) => ['hget', keys.eventsByMinute(env, minute), TOTAL]),
    );
    const counts = await inPipelines<string | null>(this.redis, commands);
    return minutes.map((_, i) => sum(counts.slice(i * partitions.length, (i + 1) * partitions.length).map(Number)));
  }
}

interface Group {
  keys: PartitionKeyspace;
  env: string;
  name: string;
  minute: number;
  lastAt: number;
  events: Envelope[];
  /** Entries of the index: time of receipt and ID of each event. */
  members: (string | number)[];
}

function distinct(minutes: readonly string[][]): number[] {
  return [...new Set(minutes.flat())].map(Number);
}

/** Events of one partition, name and minute. */
function groupsOf(keyspace: Keyspace, events: readonly Envelope[]): Iterable<Group> {
  const groups = new Map<string, Group>();
  for (const event of events) {
    const { env, name, receivedAt, internalId } = event;
    const minute = floorTo(receivedAt, MINUTE_MS);
    const keys = keyspace.of(internalId);
    const key = `${keys.number}:${minute}:${env}:${name}`;
    const group = groups.get(key) ?? { keys, env, name, minute, lastAt: receivedAt, events: [], members: [] };
    group.lastAt = Math.max(group.lastAt, receivedAt);
    group.events.push(event);
    group.members.push(receivedAt, internalId);
    groups.set(key, group);
  }
  return groups.values();
}

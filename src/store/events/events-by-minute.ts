/** The indexes of an environment's events, of which there is one a name, and what tells which of them to look into: for each minute a
 *  slot, how many events of which name were received in it. Together they are the list of all events. */
import type { Envelope } from '../../model/events/event.ts';
import { inPipelines, type Redis } from '../redis/connection.ts';
import type { Keyspace } from '../redis/keyspace.ts';
import type { ScriptedPipeline } from '../redis/scripts.ts';
import { MINUTE_MS } from './keys.ts';

/** Slots that are read first, and how many times more with each further reading. */
const SLOTS_FIRST = 4;
const SLOTS_GROWTH = 4;
const SLOTS_MAX = 1_000;

/** In a slot, beside the names: all of them. No event has this name. */
const ALL = '';

/** How many events of each name. */
export type MinuteBucket = Map<string, number>;

/** A stretch of minutes that follow each other. */
export interface TimeRange {
  names: string[];
  /** When the first of them begins, Unix milliseconds. */
  from: number;
}

export class EventsByMinute {
  readonly #redis: Redis;
  readonly #keys: Keyspace;
  readonly #retentionMs: number;

  constructor(redis: Redis, keys: Keyspace, retentionMs: number) {
    this.#redis = redis;
    this.#keys = keys;
    this.#retentionMs = retentionMs;
  }

  /** Events enter the indexes of their names; one that is there already is not counted again. */
  enter(pipeline: ScriptedPipeline, events: readonly Envelope[], nowMs: number): void {
    for (const group of groupsOf(events)) {
      const { env, name, minute, lastAt, members } = group;
      pipeline.indexEvents(
        this.#keys.eventIndex(env, name),
        this.#keys.eventsByMinute(env, minute),
        this.#keys.eventMinutes(env),
        this.#keys.eventNames(env),
        name,
        minute,
        minute + MINUTE_MS + this.#retentionMs,
        nowMs,
        this.#retentionMs,
        lastAt,
        ...members,
      );
    }
  }

  /** The minutes before a time, that of the time included, back to those in which there are so many events, and no further than `oldest`.
   *  @returns undefined when there are none */
  async before(env: string, timeMs: number | '+inf', oldest: number, enough: number): Promise<TimeRange | undefined> {
    const names = new Set<string>();
    let from: number | undefined;
    let count = 0;
    for (let size = SLOTS_FIRST; count < enough; size = Math.min(size * SLOTS_GROWTH, SLOTS_MAX)) {
      const top = from === undefined ? timeMs : `(${from}`;
      const key = this.#keys.eventMinutes(env);
      const minutes = await this.#redis.zrevrangebyscore(key, top, minuteOf(oldest), 'LIMIT', 0, size);
      for (const slot of await this.read(env, minutes.map(Number))) {
        for (const [name, inIt] of slot) {
          names.add(name);
          count += inIt;
        }
      }
      if (minutes.length > 0) from = Number(minutes.at(-1));
      if (minutes.length < size) break;
    }
    return from === undefined ? undefined : { names: [...names], from };
  }

  /** The minutes in which events were received that touch the timeRange, in order. */
  async minutes(env: string, from: number, to: number): Promise<number[]> {
    const found = await this.#redis.zrangebyscore(this.#keys.eventMinutes(env), minuteOf(from), `(${to}`);
    return found.map(Number);
  }

  async read(env: string, minutes: readonly number[]): Promise<MinuteBucket[]> {
    const commands = minutes.map((minute) => ['hgetall', this.#keys.eventsByMinute(env, minute)]);
    const slots = await inPipelines<Record<string, string>>(this.#redis, commands);
    return slots.map(
      ({ [ALL]: _, ...names }) => new Map(Object.entries(names).map(([name, count]) => [name, Number(count)])),
    );
  }

  /** How many events each has, of all names. */
  async counts(env: string, minutes: readonly number[]): Promise<number[]> {
    const commands = minutes.map((minute) => ['hget', this.#keys.eventsByMinute(env, minute), ALL]);
    return (await inPipelines<string | null>(this.#redis, commands)).map(Number);
  }
}

/** When the minute begins. */
function minuteOf(timeMs: number): number {
  return timeMs - (timeMs % MINUTE_MS);
}

interface Group {
  env: string;
  name: string;
  minute: number;
  lastAt: number;
  members: (string | number)[];
}

/** Events of one name and minute. */
function groupsOf(events: readonly Envelope[]): Iterable<Group> {
  const groups = new Map<string, Group>();
  for (const { env, name, receivedAt, internalId } of events) {
    const minute = minuteOf(receivedAt);
    const key = `${minute}:${env}:${name}`;
    const group = groups.get(key) ?? { env, name, minute, lastAt: receivedAt, members: [] };
    group.lastAt = Math.max(group.lastAt, receivedAt);
    group.members.push(receivedAt, internalId);
    groups.set(key, group);
  }
  return groups.values();
}

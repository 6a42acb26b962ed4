/** Events on their way to the archive: what is old enough, all that Redis has of it, and its removal once it is archived. */
import { type DecisionBytes, decisionsOf, removeDecisions } from '../flow-control/archivable-decisions.ts';
import { inPipelines } from '../redis/connection.ts';
import type { Keyspace, PartitionKeyspace } from '../redis/keyspace.ts';
import { type Position, toPositions } from '../redis/pagination.ts';
import type { ScriptedRedis } from '../redis/scripts.ts';
import { idsIn } from '../runs/run-fields.ts';
import { fieldOf, sliceOf } from './event-location.ts';
import type { EventRecords, FoundRecord } from './event-records.ts';
import { MINUTE_MS } from './keys.ts';

/** Events of one name and minute. */
export interface EventGroup {
  env: string;
  name: string;
  /** Start, Unix milliseconds. */
  minute: number;
}

export interface ArchivableEvent extends EventGroup, Position {
  /** undefined: it was removed before, and only its entries in the indexes are left. */
  record: FoundRecord | undefined;
  duplicates: number;
  runIds: string[];
  decisions: DecisionBytes | undefined;
}

/** Members of one command: Redis does nothing else meanwhile. */
const AT_ONCE = 500;

export class ArchivableEvents {
  readonly #redis: ScriptedRedis;
  readonly #keys: Keyspace;
  readonly #records: EventRecords;

  constructor(redis: ScriptedRedis, keys: Keyspace, records: EventRecords) {
    this.#redis = redis;
    this.#keys = keys;
    this.#records = records;
  }

  /** The oldest minutes that have events, up to a time. */
  async minutes(partition: number, env: string, upTo: number, limit: number): Promise<number[]> {
    const key = this.#keys.partition(partition).eventMinutes(env);
    const found = await this.#redis.zrangebyscore(key, '-inf', `(${upTo}`, 'LIMIT', 0, limit);
    return found.map(Number);
  }

  /** The groups of a minute. */
  async groups(partition: number, env: string, minute: number): Promise<EventGroup[]> {
    const names = await this.#redis.hkeys(this.#keys.partition(partition).eventsByMinute(env, minute));
    return names.flatMap((name) => (name === '' ? [] : [{ env, name, minute }]));
  }

  /** A minute whose counts are gone, and which therefore has no groups. */
  async dropMinute(partition: number, env: string, minute: number): Promise<void> {
    await this.#redis.zrem(this.#keys.partition(partition).eventMinutes(env), minute);
  }

  /** The first events of a group that were received before a time. */
  async positions(
    partition: number,
    { env, name, minute }: EventGroup,
    before: number,
    limit: number,
  ): Promise<Position[]> {
    const end = Math.min(before, minute + MINUTE_MS);
    const index = this.#keys.partition(partition).eventIndex(env, name);
    const flat = await this.#redis.zrangebyscore(index, minute, `(${end}`, 'WITHSCORES', 'LIMIT', 0, limit);
    return toPositions(flat);
  }

  /** A group without events: removes its count. */
  async dropGroup(partition: number, { env, name, minute }: EventGroup): Promise<void> {
    await this.#redis.hdel(this.#keys.partition(partition).eventsByMinute(env, minute), name);
  }

  /** How many of the first events have at most `maxBytes` together; at least one. */
  async countWithin(env: string, found: readonly Position[], maxBytes: number): Promise<number> {
    const sizes = await inPipelines<number>(
      this.#redis,
      found.map(({ id }) => ['hstrlen', this.#keys.of(id).eventBucket(env, sliceOf(id)), fieldOf(id)]),
    );
    const elsewhere = found.filter((_, i) => sizes[i] === 0);
    const overflow = await inPipelines<number>(
      this.#redis,
      elsewhere.map(({ id }) => ['strlen', this.#keys.of(id).overflowEvent(env, id)]),
    );
    const rest = overflow.values();
    let bytes = 0;
    for (const [i, size] of sizes.entries()) {
      bytes += size === 0 ? (rest.next().value ?? 0) : size;
      if (bytes > maxBytes && i > 0) return i;
    }
    return found.length;
  }

  /** All that Redis has of events of one environment and partition.
   *  @param found with the group of each */
  async read(partition: number, env: string, found: readonly (Position & EventGroup)[]): Promise<ArchivableEvent[]> {
    const keys = this.#keys.partition(partition);
    const ids = found.map(({ id }) => id);
    const [records, duplicates, runIds, decisions] = await Promise.all([
      this.#records.read(env, ids),
      this.#values(ids.map((id) => keys.duplicates(env, id))),
      this.#runIds(keys, env, ids),
      decisionsOf(this.#redis, keys, env, ids),
    ]);
    return found.map((position, i) => ({
      ...position,
      record: records[i],
      duplicates: Number(duplicates[i] ?? 0),
      runIds: runIds[i] as string[],
      decisions: decisions.get(position.id),
    }));
  }

  /** IDs of the runs of each event. */
  async #runIds(keys: PartitionKeyspace, env: string, ids: readonly string[]): Promise<string[][]> {
    const bySlice = Map.groupBy(ids, sliceOf);
    const commands = [...bySlice].map(([slice, some]) => ['hmget', keys.eventRuns(env, slice), ...some.map(fieldOf)]);
    const [listed, overflow] = await Promise.all([
      inPipelines<(string | null)[]>(this.#redis, commands),
      this.#values(ids.map((id) => keys.overflowEventRuns(env, id))),
    ]);
    const inOrder = listed.flat();
    const found = new Map([...bySlice.values()].flat().map((id, i) => [id, inOrder[i] ?? '']));
    return ids.map((id, i) => idsIn((found.get(id) ?? '') + (overflow[i] ?? '')));
  }

  /** Removes what Redis has of events that are archived, except what is kept for runs (events-in-use.ts); last the entries by which they are found, so
   *  that a crash in between is made good by the next round. */
  async free(partition: number, events: readonly ArchivableEvent[]): Promise<void> {
    const keys = this.#keys.partition(partition);
    for (const [env, ofEnv] of Map.groupBy(events, (event) => event.env)) {
      const ids = ofEnv.map(({ id }) => id);
      await removeDecisions(
        this.#redis,
        keys,
        env,
        ofEnv.filter(({ decisions }) => decisions).map(({ id }) => id),
      );
      await this.#deleteIfEqual(ofEnv.flatMap((event) => secondaryKeysOf(keys, event)));
      await inPipelines(
        this.#redis,
        hdelCommands(ids, (slice) => keys.eventBucket(env, slice)),
      );
    }
    const groups = Map.groupBy(events, ({ env, name, minute }) => JSON.stringify([env, name, minute]));
    for (const ofGroup of groups.values()) {
      const { env, name, minute } = ofGroup[0] as ArchivableEvent;
      for (const some of chunksOf(ofGroup)) {
        const ids = some.map(({ id }) => id);
        const [index, counts, minutes] = [
          keys.eventIndex(env, name),
          keys.eventsByMinute(env, minute),
          keys.eventMinutes(env),
        ];
        await this.#redis.freeEvents(index, counts, minutes, name, minute, ...ids);
      }
    }
  }

  async #deleteIfEqual(pairs: readonly [key: string, value: string][]): Promise<void> {
    for (const some of chunksOf(pairs)) {
      const [keys, values] = [some.map(([key]) => key), some.map(([, value]) => value)];
      await this.#redis.deleteIfEqual(keys.length, ...keys, ...values);
    }
  }

  async #values(keys: readonly string[]): Promise<(string | null)[]> {
    return (
      await inPipelines<(string | null)[]>(
        this.#redis,
        chunksOf(keys).map((some) => ['mget', ...some]),
      )
    ).flat();
  }
}

/** Keys beside the record, with the values that they have. */
function secondaryKeysOf(
  keys: PartitionKeyspace,
  { env, id, record, duplicates }: ArchivableEvent,
): [string, string][] {
  const dedupId = record && dedupIdOf(record.payload);
  return [
    ...(duplicates > 0 ? [[keys.duplicates(env, id), String(duplicates)] as [string, string]] : []),
    ...(dedupId === undefined ? [] : [[keys.eventById(env, dedupId), id] as [string, string]]),
  ];
}

/** The ID that the sender gave. */
export function dedupIdOf(payload: string): string | undefined {
  return payload.includes('"id":') ? (JSON.parse(payload) as { id?: string }).id : undefined;
}

function hdelCommands(ids: readonly string[], keyOf: (slice: string) => string): string[][] {
  return [...Map.groupBy(ids, sliceOf)].flatMap(([slice, some]) =>
    chunksOf(some).map((portion) => ['hdel', keyOf(slice), ...portion.map(fieldOf)]),
  );
}

function chunksOf<T>(list: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(list.length / AT_ONCE) }, (_, i) => list.slice(i * AT_ONCE, (i + 1) * AT_ONCE));
}

/** Events on their way to the archive: finds events that are old enough, reads all their data in Redis, and removes it once it is archived. */

import { chunksOf } from '../../model/values/chunks.ts';
import { MINUTE_MS } from '../../model/values/time.ts';
import { type DecisionBytes, decisionsOf, removeDecisions } from '../flow-control/archivable-decisions.ts';
import type { ScriptedRedis } from '../redis/connection/scripts.ts';
import { idsIn } from '../redis/joined-ids.ts';
import type { PartitionKeyspace } from '../redis/keyspace/keyspace.ts';
import { type Position, toPositions } from '../redis/pagination.ts';
import { Repository } from '../redis/repository.ts';
import type { EventRecords, FoundRecord } from './event-records.ts';

/** Events of one name that were received within one minute. */
export interface EventGroup {
  env: string;
  name: string;
  /** Start of the minute, Unix milliseconds. */
  minute: number;
}

export interface ArchivableEvent extends EventGroup, Position {
  /** undefined if the record was removed earlier and only index entries remain. */
  record: FoundRecord | undefined;
  /** The sender's deduplication ID. */
  dedupId: string | undefined;
  duplicates: number;
  runIds: string[];
  decisions: DecisionBytes | undefined;
}

/** Maximum number of members per command, because Redis is blocked meanwhile. */
const AT_ONCE = 500;

export class ArchivableEvents extends Repository<ScriptedRedis, { records: EventRecords }> {
  /** The oldest minutes with events, up to a time. */
  async minutes(partition: number, env: string, upTo: number, limit: number): Promise<number[]> {
    const key = this.keys.partition(partition).eventMinutes(env);
    const found = await this.redis.zrangebyscore(key, '-inf', `(${upTo}`, 'LIMIT', 0, limit);
    return found.map(Number);
  }

  async groups(partition: number, env: string, minute: number): Promise<EventGroup[]> {
    const names = await this.redis.hkeys(this.keys.partition(partition).eventsByMinute(env, minute));
    return names.flatMap((name) => (name === '' ? [] : [{ env, name, minute }]));
  }

  /** Removes a minute that has no counts, and therefore no groups. */
  async dropMinute(partition: number, env: string, minute: number): Promise<void> {
    await this.redis.zrem(this.keys.partition(partition).eventMinutes(env), minute);
  }

  /** The first events of a group, received before a time. */
  async positions(
    partition: number,
    { env, name, minute }: EventGroup,
    before: number,
    limit: number,
  ): Promise<Position[]> {
    const end = Math.min(before, minute + MINUTE_MS);
    const index = this.keys.partition(partition).eventIndex(env, name);
    const flat = await this.redis.zrangebyscore(index, minute, `(${end}`, 'WITHSCORES', 'LIMIT', 0, limit);
    return toPositions(flat);
  }

  /** Removes the count of a group without events. */
  async dropGroup(partition: number, { env, name, minute }: EventGroup): Promise<void> {
    await this.redis.hdel(this.keys.partition(partition).eventsByMinute(env, minute), name);
  }

  /** How many of the first events fit into `maxBytes`; at least one. */
  async countWithin(env: string, found: readonly Position[], maxBytes: number): Promise<number> {
    const [first] = found;
    if (!first) return 0;
    const { eventBucket, overflowEvent } = this.keys.of(first.id);
    const ids = found.map(({ id }) => id);
    const sizes = (await this.redis.measureEvents(eventBucket(env, ''), overflowEvent(env, ''), ...ids)) as number[];
    let bytes = 0;
    for (const [i, size] of sizes.entries()) {
      bytes += size;
      if (bytes > maxBytes && i > 0) return i;
    }
    return found.length;
  }

  /** Reads all data of events of one environment and partition.
   *  @param found the events with their groups */
  async read(partition: number, env: string, found: readonly (Position & EventGroup)[]): Promise<ArchivableEvent[]> {
    const keys = this.keys.partition(partition);
    const ids = found.map(({ id }) => id);
    const [records, parts, decisions] = await Promise.all([
      this.deps.records.read(env, ids),
      this.#parts(keys, env, ids),
      decisionsOf(this.redis, keys, env, ids),
    ]);
    return found.map((position, i) => ({
      ...position,
      record: records[i],
      dedupId: dedupIdOf(records[i]),
      ...(parts.get(i) ?? { duplicates: 0, runIds: [] }),
      decisions: decisions.get(position.id),
    }));
  }

  /** Key: position in the list of IDs. Most events have no duplicates, and many have no runs. */
  async #parts(
    { duplicates, eventRuns, overflowEventRuns }: PartitionKeyspace,
    env: string,
    ids: readonly string[],
  ): Promise<Map<number, Pick<ArchivableEvent, 'duplicates' | 'runIds'>>> {
    const found = new Map<number, Pick<ArchivableEvent, 'duplicates' | 'runIds'>>();
    const prefixes = [duplicates(env, ''), eventRuns(env, ''), overflowEventRuns(env, '')];
    for (let start = 0; start < ids.length; start += AT_ONCE) {
      const some = ids.slice(start, start + AT_ONCE);
      const flat = (await this.redis.readEventParts(...prefixes, ...some)) as (string | number)[];
      for (let i = 0; i < flat.length; i += 3) {
        const [at, count, runIds] = flat.slice(i, i + 3) as [number, string, string];
        found.set(start + at, { duplicates: Number(count), runIds: idsIn(runIds) });
      }
    }
    return found;
  }

  /** Removes the other data of archived events, before the events themselves (events-in-use.ts). */
  async freeParts(partition: number, events: readonly ArchivableEvent[]): Promise<void> {
    const keys = this.keys.partition(partition);
    for (const [env, ofEnv] of Map.groupBy(events, (event) => event.env)) {
      await removeDecisions(
        this.redis,
        keys,
        env,
        ofEnv.filter(({ decisions }) => decisions).map(({ id }) => id),
      );
      const repeated = ofEnv.filter(({ duplicates }) => duplicates > 0);
      await this.#onPairs(
        'subtract',
        repeated.map(({ id, duplicates }) => [keys.duplicates(env, id), duplicates]),
      );
      const named = ofEnv.flatMap(({ id, dedupId }): Pair[] =>
        dedupId === undefined ? [] : [[keys.eventById(env, dedupId), id]],
      );
      await this.#onPairs('deleteIfEqual', named);
    }
  }

  /** Removes events from the indexes after all their other data; the next round repeats what a crash interrupted. */
  async freeIndexes(partition: number, events: readonly ArchivableEvent[]): Promise<void> {
    const keys = this.keys.partition(partition);
    const groups = Map.groupBy(events, ({ env, name, minute }) => JSON.stringify([env, name, minute]));
    for (const ofGroup of groups.values()) {
      const { env, name, minute } = ofGroup[0] as ArchivableEvent;
      for (const some of chunksOf(ofGroup, AT_ONCE)) {
        const ids = some.map(({ id }) => id);
        const [index, counts, minutes] = [
          keys.eventIndex(env, name),
          keys.eventsByMinute(env, minute),
          keys.eventMinutes(env),
        ];
        await this.redis.freeEvents(index, counts, minutes, name, minute, ...ids);
      }
    }
  }

  async #onPairs(script: 'subtract' | 'deleteIfEqual', pairs: readonly Pair[]): Promise<void> {
    for (const some of chunksOf(pairs, AT_ONCE)) {
      const [keys, values] = [some.map(([key]) => key), some.map(([, value]) => value)];
      await this.redis[script](keys.length, ...keys, ...values);
    }
  }
}

type Pair = [key: string, value: string | number];

/** End of most events' payloads (toEnvelope in model/events/event.ts): the data object is followed by the sender's ID or by the time. */
const WITHOUT_ID = /\},"ts":\d{1,16}\}$/;
const LONGEST_END = 25;

/** The sender's deduplication ID. Parsing every payload would cost a sixth of the archiver's time per event. */
function dedupIdOf(record: FoundRecord | undefined): string | undefined {
  if (!record || WITHOUT_ID.test(record.payload.slice(-LONGEST_END)) || !record.payload.includes('"id":'))
    return undefined;
  return (JSON.parse(record.payload) as { id?: string }).id;
}

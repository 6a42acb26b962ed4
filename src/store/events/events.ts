/** Events: each is stored as a record (event-records.ts), and listed in an index of its name by time of receipt. An event enters the
 *  index last, after its runs are enqueued: an event in the index is completely ingested. (Events of invocations and endpoints enter it
 *  before their run starts: docs/decisions/0001-index-entry-last.md.) Records, counts and indexes expire with the
 *  retention; an index is trimmed whenever an event is added. */
import {
  type Envelope,
  type Event,
  type EventRecord,
  type RecordParts,
  recordOf,
  type Source,
} from '../../model/events/event.ts';
import { parseStored } from '../../model/values/json.ts';
import { inPipelines, replies, type ScriptedRedis } from '../redis/connection/connection.ts';
import { newestFirst, toPositions } from '../redis/pagination.ts';
import { Repository } from '../redis/repository.ts';
import type { BucketWrite, EventRecords, FoundRecord } from './event-records.ts';
import type { EventsByMinute } from './events-by-minute.ts';

/** Result of storing an envelope. */
export interface Stored {
  /** The stored event: the envelope itself, or the first event with its ID. */
  event: Envelope;
  /** Whether the envelope is a repeat of an earlier event. */
  repeat: boolean;
  /** Already stored, possibly by an earlier try of the same job. */
  present?: true;
  /** The event's runs are enqueued, so nothing is left to do. */
  ingested: boolean;
}

export type NamedEvent = RecordParts & Pick<Envelope, 'env' | 'name'>;

export type FoundEvent = EventRecord & { source: Source; duplicates: number };

/** Number of events in the first read of a list, which shows how large they are. */
const FIRST_PORTION = 10;
/** Approximate number of characters in each later read. */
const PORTION_CHARACTERS = 4_194_304;

export class Events extends Repository<
  ScriptedRedis,
  { records: EventRecords; eventsByMinute: EventsByMinute; retentionMs: number }
> {
  async storeNew(all: readonly Envelope[]): Promise<Stored[]> {
    const batch = all.filter(({ repeat }) => !repeat);
    const repeats = all.filter(({ repeat }) => repeat).map((event) => ({ event, repeat: true, ingested: true }));
    if (batch.length === 0) return repeats;
    const isNew = await this.deps.records.store(batch);
    const present = batch.filter((_, i) => !isNew[i]);
    const first = present.length > 0 ? await this.#firstOf(present) : undefined;
    const stored = batch.map((envelope) => toStored(envelope, first?.get(envelope)));
    await this.#readIngested(stored.filter((_, i) => !isNew[i]));
    return [...stored, ...repeats];
  }

  /** The write of all events, for a script that does more (event-records.ts). */
  writeOf(batch: readonly Envelope[]): Promise<BucketWrite | undefined> {
    return this.deps.records.writeOf(batch);
  }

  /** The events stored earlier, by the envelope with the same ID. */
  async #firstOf(present: readonly Envelope[]): Promise<Map<Envelope, FoundRecord | undefined>> {
    const first = new Map<Envelope, FoundRecord | undefined>();
    for (const [env, ofEnv] of Map.groupBy(present, (envelope) => envelope.env)) {
      const records = await this.deps.records.read(
        env,
        ofEnv.map(({ internalId }) => internalId),
      );
      ofEnv.forEach((envelope, i) => {
        first.set(envelope, records[i]);
      });
    }
    return first;
  }

  /** Sets `ingested` on events that are in the index. */
  async #readIngested(present: Stored[]): Promise<void> {
    if (present.length === 0) return;
    const pipeline = this.redis.pipeline();
    for (const { event } of present) {
      const { env, name, internalId } = event;
      pipeline.zscore(this.keys.of(internalId).eventIndex(env, name), internalId);
    }
    const scores = replies<string | null>(await pipeline.exec());
    present.forEach((stored, i) => {
      stored.ingested = scores[i] !== null;
    });
  }

  /** Whether the event's runs are enqueued. */
  async isIngested(env: string, name: string, internalId: string): Promise<boolean> {
    return (await this.redis.zscore(this.keys.of(internalId).eventIndex(env, name), internalId)) !== null;
  }

  /** Ends the ingestion of a batch: events whose runs are enqueued enter the index; duplicates are counted for the first event.
   *  @returns the events to match with waits: those whose names may have waits, and those that an earlier try marked, which
   *  may have died before it matched them */
  async markIngested(batch: readonly Stored[], nowMs: number): Promise<Envelope[]> {
    const fresh = batch.filter(({ ingested }) => !ingested).map(({ event }) => event);
    const marked = batch.filter(({ ingested, repeat }) => ingested && !repeat).map(({ event }) => event);
    const repeats = batch.filter(({ repeat }) => repeat);
    if (repeats.length === 0 && fresh.every(({ id }) => id === undefined)) {
      return [...marked, ...(await this.deps.eventsByMinute.add(fresh, nowMs))];
    }
    const pipeline = this.redis.pipeline();
    for (const { env, id, internalId } of fresh) {
      if (id !== undefined)
        pipeline.set(this.keys.of(internalId).eventById(env, id), internalId, 'PX', this.deps.retentionMs);
    }
    // Last, so that every event in an index can also be found by its ID.
    const toMatchIn = this.deps.eventsByMinute.addTo(pipeline, fresh, nowMs);
    for (const { event } of repeats) {
      const count = this.keys.of(event.internalId).duplicates(event.env, event.internalId);
      pipeline.incr(count);
      pipeline.pexpire(count, this.deps.retentionMs);
    }
    return [...marked, ...toMatchIn(pipeline.length > 0 ? replies(await pipeline.exec()) : [])];
  }

  /** An event as its runs need it: without counts, with JavaScript numbers. */
  async record(env: string, internalId: string): Promise<EventRecord | undefined> {
    const [record] = await this.deps.records.read(env, [internalId]);
    return record && recordOf(record);
  }

  /** Like `record`, for several events in the order of their IDs. */
  async records(env: string, internalIds: readonly string[]): Promise<(EventRecord | undefined)[]> {
    if (internalIds.length === 0) return [];
    return (await this.deps.records.read(env, internalIds)).map((record) => record && recordOf(record));
  }

  /** IDs of the events that are stored. */
  async present(env: string, internalIds: readonly string[]): Promise<Set<string>> {
    return internalIds.length === 0 ? new Set() : this.deps.records.present(env, internalIds);
  }

  /** Events as they were accepted, by ID; events that are no longer stored are left out. */
  async envelopes(env: string, internalIds: readonly string[]): Promise<Map<string, Envelope>> {
    const records = internalIds.length === 0 ? [] : await this.deps.records.read(env, internalIds);
    return new Map(
      records.flatMap((record, i) => {
        const internalId = internalIds[i] as string;
        return record ? [[internalId, envelopeOf(env, internalId, record)] as const] : [];
      }),
    );
  }

  /** Keeps the event for at least the retention, counted from now or from `aheadMs` later, when a run will work on it. */
  async extendRetention(env: string, internalId: string, aheadMs = 0): Promise<void> {
    await this.deps.records.extendRetention(env, internalId, this.deps.retentionMs + aheadMs);
  }

  /** Events of one name received since a time, in the order of receipt; a few at a time, because each may have half a megabyte. */
  async *since(env: string, name: string, receivedAtMs: number, limit: number): AsyncGenerator<NamedEvent[]> {
    const ids = await this.#idsSince(env, name, receivedAtMs, limit);
    let size = 0;
    for (let read = 0, portion = FIRST_PORTION; read < ids.length; ) {
      const records = await this.deps.records.read(env, ids.slice(read, read + portion));
      read += records.length;
      for (const record of records) size += record?.payload.length ?? 0;
      portion = Math.max(1, Math.floor(PORTION_CHARACTERS / (size / read + 1)));
      yield records.flatMap((record) => (record ? [{ env, name, ...record }] : []));
    }
  }

  /** Merges all partitions in the order of receipt. */
  async #idsSince(env: string, name: string, receivedAtMs: number, limit: number): Promise<string[]> {
    const partitions = this.keys.all();
    const [first] = partitions;
    if (first && partitions.length === 1) {
      return this.redis.zrangebyscore(first.eventIndex(env, name), receivedAtMs, '+inf', 'LIMIT', 0, limit);
    }
    const commands = partitions.map((keys) => {
      return ['zrangebyscore', keys.eventIndex(env, name), receivedAtMs, '+inf', 'WITHSCORES', 'LIMIT', 0, limit];
    });
    const found = (await inPipelines<string[]>(this.redis, commands)).flatMap(toPositions);
    return newestFirst(found)
      .reverse()
      .slice(0, limit)
      .map(({ id }) => id);
  }

  async read(env: string, internalId: string): Promise<FoundEvent | undefined> {
    return (await this.readMany(env, [internalId]))[0];
  }

  /** The first events that fit into `max` characters, and at least one; events that are not stored are left out.
   *  @returns `read`: number of IDs read */
  async readWithin(env: string, ids: readonly string[], max: number): Promise<{ events: FoundEvent[]; read: number }> {
    const events: FoundEvent[] = [];
    let read = 0;
    let size = 0;
    let portion = FIRST_PORTION;
    while (read < ids.length && (read === 0 || size < max)) {
      const some = ids.slice(read, read + portion);
      const records = await this.deps.records.read(env, some);
      const within = records.findIndex((record, i) => {
        size += record?.payload.length ?? 0;
        return size > max && read + i > 0;
      });
      const fitting = within === -1 ? some.length : within;
      events.push(...(await this.#found(env, some.slice(0, fitting), records)));
      read += fitting;
      if (within !== -1) break;
      portion = Math.max(1, Math.floor((max - size) / (size / read + 1)));
    }
    return { events, read };
  }

  /** The result is in the order of the IDs; events that are not stored are left out. */
  async readMany(env: string, ids: readonly string[]): Promise<FoundEvent[]> {
    if (ids.length === 0) return [];
    return this.#found(env, ids, await this.deps.records.read(env, ids));
  }

  /** Number of repeats of each event. */
  async duplicates(env: string, ids: readonly string[]): Promise<number[]> {
    const commands = ids.map((id) => ['get', this.keys.of(id).duplicates(env, id)]);
    return (await inPipelines<string | null>(this.redis, commands)).map(Number);
  }

  async #found(env: string, ids: readonly string[], records: readonly (FoundRecord | undefined)[]) {
    if (ids.length === 0) return [];
    const counts = await this.duplicates(env, ids);
    return counts.flatMap((duplicates, i): FoundEvent[] => {
      const record = records[i];
      return record ? [{ ...recordOf(record, parseStored), source: record.source, duplicates }] : [];
    });
  }
}

/** @param first the event stored earlier under the same ID */
function toStored(envelope: Envelope, first: FoundRecord | undefined): Stored {
  if (!first) return { event: envelope, repeat: false, ingested: false };
  const event = envelopeOf(envelope.env, envelope.internalId, first);
  const repeat = first.requestId !== envelope.requestId || first.index !== envelope.index;
  return { event, repeat, present: true, ingested: false };
}

/** The event as it was accepted. */
export function envelopeOf(env: string, internalId: string, record: FoundRecord): Envelope {
  const { name, id, ts } = JSON.parse(record.payload) as Event;
  return { ...record, internalId, env, name, ...(id !== undefined && { id }), ts: ts ?? record.receivedAt };
}

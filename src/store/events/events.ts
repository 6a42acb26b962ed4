/** Events: each in its place (event-records.ts), and in an index of its name by time of receipt.
 *
 *  An event enters the index last, when its runs have been enqueued: being in the index is the mark of being wholly ingested.
 *  Records, counts and indexes expire with the retention; an index is trimmed whenever it is added to. */
import {
  type Envelope,
  type Event,
  type EventRecord,
  type RecordParts,
  recordOf,
  type Source,
} from '../../model/events/event.ts';
import { parseStored } from '../../model/values/json.ts';
import { replies } from '../redis/connection.ts';
import type { Keyspace } from '../redis/keyspace.ts';
import type { ScriptedRedis } from '../redis/scripts.ts';
import type { EventRecords, FoundRecord } from './event-records.ts';
import type { EventsByMinute } from './events-by-minute.ts';

/** What storing an envelope found. */
export interface Stored {
  /** The stored event: the envelope itself, or the one that came first under its ID. */
  event: Envelope;
  /** The envelope was sent after the one that is stored. */
  repeat: boolean;
  /** Its runs have been enqueued: nothing is left to do for it. */
  ingested: boolean;
}

export type NamedEvent = RecordParts & Pick<Envelope, 'env' | 'name'>;

export type FoundEvent = EventRecord & { source: Source; duplicates: number };

/** Of a list whose events may be of any size: by these it is seen how large they are. */
const FIRST_PORTION = 10;
/** About as many characters are read at once then. */
const PORTION_CHARACTERS = 4_194_304;

export class Events {
  readonly #redis: ScriptedRedis;
  readonly #keys: Keyspace;
  readonly #records: EventRecords;
  readonly #eventsByMinute: EventsByMinute;
  readonly #retentionMs: number;

  constructor({
    redis,
    keys,
    records,
    eventsByMinute,
    retentionMs,
  }: {
    redis: ScriptedRedis;
    keys: Keyspace;
    records: EventRecords;
    eventsByMinute: EventsByMinute;
    retentionMs: number;
  }) {
    this.#redis = redis;
    this.#keys = keys;
    this.#records = records;
    this.#eventsByMinute = eventsByMinute;
    this.#retentionMs = retentionMs;
  }

  /** Stores each event that is not there yet, and tells of each what was found. */
  async storeNew(all: readonly Envelope[]): Promise<Stored[]> {
    const batch = all.filter(({ repeat }) => !repeat);
    const repeats = all.filter(({ repeat }) => repeat).map((event) => ({ event, repeat: true, ingested: true }));
    if (batch.length === 0) return repeats;
    const isNew = await this.#records.store(batch);
    const met = batch.filter((_, i) => !isNew[i]);
    const first = met.length > 0 ? await this.#firstOf(met) : undefined;
    const stored = batch.map((envelope) => toStored(envelope, first?.get(envelope)));
    await this.#markSettled(stored.filter((_, i) => !isNew[i]));
    return [...stored, ...repeats];
  }

  /** What was there before, by the envelope that met it. */
  async #firstOf(met: readonly Envelope[]): Promise<Map<Envelope, FoundRecord | undefined>> {
    const first = new Map<Envelope, FoundRecord | undefined>();
    for (const [env, ofEnv] of Map.groupBy(met, (envelope) => envelope.env)) {
      const records = await this.#records.read(
        env,
        ofEnv.map(({ internalId }) => internalId),
      );
      ofEnv.forEach((envelope, i) => {
        first.set(envelope, records[i]);
      });
    }
    return first;
  }

  async #markSettled(met: Stored[]): Promise<void> {
    if (met.length === 0) return;
    const pipeline = this.#redis.pipeline();
    for (const { event } of met) pipeline.zscore(this.#keys.eventIndex(event.env, event.name), event.internalId);
    const scores = replies<string | null>(await pipeline.exec());
    met.forEach((one, i) => {
      one.ingested = scores[i] !== null;
    });
  }

  /** Ends the ingestion of a batch: events whose runs are enqueued enter the index, repeats are counted on their first. */
  async markIngested(batch: readonly Stored[], nowMs: number): Promise<void> {
    const pipeline = this.#redis.pipeline();
    const fresh = batch.filter(({ ingested }) => !ingested).map(({ event }) => event);
    for (const { env, id, internalId } of fresh) {
      if (id !== undefined) pipeline.set(this.#keys.eventById(env, id), internalId, 'PX', this.#retentionMs);
    }
    // The indexes last: what they name is found by its ID, too.
    this.#eventsByMinute.enter(pipeline, fresh, nowMs);
    for (const { event, repeat } of batch) {
      if (!repeat) continue;
      const count = this.#keys.duplicates(event.env, event.internalId);
      pipeline.incr(count);
      pipeline.pexpire(count, this.#retentionMs);
    }
    if (pipeline.length > 0) replies(await pipeline.exec());
  }

  /** An event as its runs need it: without counts, its numbers as JavaScript has them. */
  async record(env: string, internalId: string): Promise<EventRecord | undefined> {
    const [record] = await this.#records.read(env, [internalId]);
    return record && recordOf(record);
  }

  /** The same of several, in the order of their IDs. */
  async records(env: string, internalIds: readonly string[]): Promise<(EventRecord | undefined)[]> {
    if (internalIds.length === 0) return [];
    return (await this.#records.read(env, internalIds)).map((record) => record && recordOf(record));
  }

  /** Keeps the event for at least the retention from now, or from a moment so far ahead: somebody is at work on it, or will be. */
  async extendRetention(env: string, internalId: string, aheadMs = 0): Promise<void> {
    await this.#records.extendRetention(env, internalId, this.#retentionMs + aheadMs);
  }

  /** Events of one name received since then, in the order of their receipt; some at a time, since each may have half a megabyte. */
  async *since(env: string, name: string, receivedAtMs: number, limit: number): AsyncGenerator<NamedEvent[]> {
    const index = this.#keys.eventIndex(env, name);
    const ids = await this.#redis.zrangebyscore(index, receivedAtMs, '+inf', 'LIMIT', 0, limit);
    let size = 0;
    for (let read = 0, portion = FIRST_PORTION; read < ids.length; ) {
      const records = await this.#records.read(env, ids.slice(read, read + portion));
      read += records.length;
      for (const record of records) size += record?.payload.length ?? 0;
      portion = Math.max(1, Math.floor(PORTION_CHARACTERS / (size / read + 1)));
      yield records.flatMap((record) => (record ? [{ env, name, ...record }] : []));
    }
  }

  async read(env: string, internalId: string): Promise<FoundEvent | undefined> {
    return (await this.readMany(env, [internalId]))[0];
  }

  /** As many of the first as hold so many characters together, and one at least; one that is not there is left out.
   *  @returns `read`: how many of the IDs were looked at */
  async readWithin(env: string, ids: readonly string[], max: number): Promise<{ events: FoundEvent[]; read: number }> {
    const events: FoundEvent[] = [];
    let read = 0;
    let size = 0;
    let portion = FIRST_PORTION;
    while (read < ids.length && (read === 0 || size < max)) {
      const some = ids.slice(read, read + portion);
      const records = await this.#records.read(env, some);
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

  /** In the order of their IDs; one that is not there is left out. */
  async readMany(env: string, ids: readonly string[]): Promise<FoundEvent[]> {
    if (ids.length === 0) return [];
    return this.#found(env, ids, await this.#records.read(env, ids));
  }

  async #found(env: string, ids: readonly string[], records: readonly (FoundRecord | undefined)[]) {
    if (ids.length === 0) return [];
    const counts = await this.#redis.mget(ids.map((id) => this.#keys.duplicates(env, id)));
    return counts.flatMap((count, i): FoundEvent[] => {
      const record = records[i];
      return record
        ? [{ ...recordOf(record, parseStored), source: record.source, duplicates: Number(count ?? 0) }]
        : [];
    });
  }
}

/** @param first that was stored under the same ID before */
function toStored(envelope: Envelope, first: FoundRecord | undefined): Stored {
  if (!first) return { event: envelope, repeat: false, ingested: false };
  const { name, id, ts } = JSON.parse(first.payload) as Event;
  const { internalId, env } = envelope;
  const event = { ...first, internalId, env, name, ...(id !== undefined && { id }), ts: ts ?? first.receivedAt };
  const repeat = first.requestId !== envelope.requestId || first.index !== envelope.index;
  return { event, repeat, ingested: false };
}

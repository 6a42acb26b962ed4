/** Events: each a record of its own, and an index by time of receipt.
 *
 *  An event enters the index last, when its runs have been enqueued: being in the index is the mark of being wholly ingested.
 *  Records, counts and indexes expire with the retention; an index is trimmed whenever it is added to. */
import type { Envelope, EventRecord } from '../model/event.ts';
import { parseExact } from '../model/json.ts';
import type { Keyspace } from './keyspace.ts';
import { type Redis, replies } from './redis.ts';

/** What storing an envelope found. */
export interface Stored {
  /** The stored event: the envelope itself, or the one that came first under its ID. */
  event: Envelope;
  /** The envelope was sent after the one that is stored. */
  repeat: boolean;
  /** Its runs have been enqueued: nothing is left to do for it. */
  settled: boolean;
}

/** `record` is an EventRecord as JSON text. */
export interface NamedRecord {
  env: string;
  name: string;
  internalId: string;
  record: string;
}

export type FoundEvent = EventRecord & { duplicates: number };

export class Events {
  readonly #redis: Redis;
  readonly #keys: Keyspace;
  readonly #retentionMs: number;

  constructor(redis: Redis, keys: Keyspace, retentionMs: number) {
    this.#redis = redis;
    this.#keys = keys;
    this.#retentionMs = retentionMs;
  }

  /** Stores each event that is not there yet, and tells of each what was found. */
  async storeNew(all: readonly Envelope[]): Promise<Stored[]> {
    const batch = all.filter(({ repeat }) => !repeat);
    const repeats = all.filter(({ repeat }) => repeat).map((event) => ({ event, repeat: true, settled: true }));
    if (batch.length === 0) return repeats;
    const pipeline = this.#redis.pipeline();
    for (const { env, internalId, ts, receivedAt, record } of batch) {
      const keptMs = this.#retentionMs + Math.max(0, ts - receivedAt);
      pipeline.call('SET', this.#keys.event(env, internalId), record, 'NX', 'GET', 'PX', keptMs);
    }
    const earlier = replies<string | null>(await pipeline.exec());
    const stored = batch.map((envelope, i) => this.#found(envelope, earlier[i] ?? null));
    await this.#markSettled(stored.filter((_, i) => earlier[i] !== null));
    return [...stored, ...repeats];
  }

  #found(envelope: Envelope, earlier: string | null): Stored {
    if (earlier === null) return { event: envelope, repeat: false, settled: false };
    const first = JSON.parse(earlier) as EventRecord;
    const event: Envelope = {
      internalId: envelope.internalId,
      env: envelope.env,
      name: first.name,
      ...(first.id !== undefined && { id: first.id }),
      ts: first.ts,
      receivedAt: first.received_at,
      requestId: first.request_id,
      index: first.index,
      record: earlier,
    };
    const repeat = first.request_id !== envelope.requestId || first.index !== envelope.index;
    return { event, repeat, settled: false };
  }

  async #markSettled(met: Stored[]): Promise<void> {
    if (met.length === 0) return;
    const pipeline = this.#redis.pipeline();
    for (const { event } of met) pipeline.zscore(this.#keys.eventIndex(event.env), event.internalId);
    const scores = replies<string | null>(await pipeline.exec());
    met.forEach((one, i) => {
      one.settled = scores[i] !== null;
    });
  }

  /** Ends the ingestion of a batch: events whose runs are enqueued enter the index, repeats are counted on their first. */
  async settle(batch: readonly Stored[], nowMs: number): Promise<void> {
    const pipeline = this.#redis.pipeline();
    const fresh = batch.filter(({ settled }) => !settled).map(({ event }) => event);
    for (const { env, id, internalId } of fresh) {
      if (id !== undefined) pipeline.set(this.#keys.eventOfId(env, id), internalId, 'PX', this.#retentionMs);
    }
    // The indexes last: what they name is found by its ID, too.
    for (const [index, members] of [...this.#names(fresh), ...this.#entries(fresh)]) {
      pipeline.zadd(index, 'GT', ...members);
      pipeline.zremrangebyscore(index, '-inf', nowMs - this.#retentionMs);
      pipeline.pexpire(index, this.#retentionMs);
    }
    for (const { event, repeat } of batch) {
      if (!repeat) continue;
      const count = this.#keys.duplicates(event.env, event.internalId);
      pipeline.incr(count);
      pipeline.pexpire(count, this.#retentionMs);
    }
    if (pipeline.length > 0) replies(await pipeline.exec());
  }

  /** By index, what enters it: scores and members. */
  #entries(events: readonly Envelope[]): Map<string, (string | number)[]> {
    const entries = new Map<string, (string | number)[]>();
    for (const { env, name, receivedAt, internalId } of events) {
      for (const index of [this.#keys.eventIndex(env), this.#keys.eventIndex(env, name)]) {
        const members = entries.get(index) ?? [];
        members.push(receivedAt, internalId);
        entries.set(index, members);
      }
    }
    return entries;
  }

  /** The same for the names, each once. */
  #names(events: readonly Envelope[]): Map<string, (string | number)[]> {
    const last = new Map<string, Map<string, number>>();
    for (const { env, name, receivedAt } of events) {
      const names = last.get(env) ?? new Map<string, number>();
      last.set(env, names.set(name, Math.max(receivedAt, names.get(name) ?? 0)));
    }
    return new Map(
      [...last].map(([env, names]) => [this.#keys.eventNames(env), [...names].flatMap(([name, at]) => [at, name])]),
    );
  }

  /** An event's record as its runs need it: without counts, its numbers as JavaScript has them. */
  async record(env: string, internalId: string): Promise<EventRecord | undefined> {
    const record = await this.#redis.get(this.#keys.event(env, internalId));
    return record === null ? undefined : (JSON.parse(record) as EventRecord);
  }

  /** Keeps the event for at least the retention from now: somebody is at work on it. */
  async keep(env: string, internalId: string): Promise<void> {
    await this.#redis.pexpire(this.#keys.event(env, internalId), this.#retentionMs, 'GT');
  }

  /** Events of one name received since then, in the order of their receipt. */
  async since(env: string, name: string, receivedAtMs: number, limit: number): Promise<NamedRecord[]> {
    const index = this.#keys.eventIndex(env, name);
    const ids = await this.#redis.zrangebyscore(index, receivedAtMs, '+inf', 'LIMIT', 0, limit);
    if (ids.length === 0) return [];
    const records = await this.#redis.mget(ids.map((id) => this.#keys.event(env, id)));
    return ids.flatMap((internalId, i) => {
      const record = records[i];
      return record ? [{ env, name, internalId, record }] : [];
    });
  }

  async read(env: string, internalId: string): Promise<FoundEvent | undefined> {
    return (await this.readMany(env, [internalId]))[0];
  }

  /** In the order of their IDs; one that is not there is left out. */
  async readMany(env: string, ids: readonly string[]): Promise<FoundEvent[]> {
    if (ids.length === 0) return [];
    const [records, counts] = await Promise.all([
      this.#redis.mget(ids.map((id) => this.#keys.event(env, id))),
      this.#redis.mget(ids.map((id) => this.#keys.duplicates(env, id))),
    ]);
    return records.flatMap((record, i) =>
      record === null ? [] : [{ ...(parseExact(record) as EventRecord), duplicates: Number(counts[i] ?? 0) }],
    );
  }
}

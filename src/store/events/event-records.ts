/** Records of events, as text (model/events/event-encoding.ts), each at its location (event-location.ts). */
import type { Envelope, RecordParts, Source } from '../../model/events/event.ts';
import { type EncodedSource, FACTS_MAX, readEvent, readSource, writeEvent } from '../../model/events/event-encoding.ts';
import { chunksOf } from '../../model/values/chunks.ts';
import { inPipelines, type ScriptedRedis } from '../redis/connection/connection.ts';
import { Repository } from '../redis/repository.ts';
import { bucketOf, fieldOf, isOverflow, locationOf, SLACK_MS } from './event-location.ts';
import type { EventSources } from './event-sources.ts';

export type FoundRecord = RecordParts & { source: Source };

/** Events of one bucket that are stored together. */
export interface BucketWrite {
  bucket: string;
  ttlMs: number;
  /** Position of each event in the batch. */
  positions: number[];
  /** Field and text of each event. */
  args: string[];
}

/** An event with a key of its own. */
interface OverflowWrite {
  position: number;
  event: Envelope;
  text: string;
}

/** Maximum number of events whose metadata one script reads: each may have half a megabyte. */
const METADATA_AT_ONCE = 50;

export class EventRecords extends Repository<ScriptedRedis, { sources: EventSources; retentionMs: number }> {
  /** Stores each event that is not stored yet.
   *  @returns for each, whether it was new */
  async store(batch: readonly Envelope[]): Promise<boolean[]> {
    const isNew = batch.map(() => true);
    const { inBuckets, overflow } = await this.#writesOf(batch);
    await Promise.all([
      ...inBuckets.map(async (write) => {
        for (const at of await this.#storeInBucket(write)) isNew[write.positions[at] as number] = false;
      }),
      ...overflow.map(async (write) => {
        isNew[write.position] = await this.#storeOverflow(write);
      }),
    ]);
    return isNew;
  }

  /** The write of all events, for a script that does more with keys of their environment; undefined if one write does not store them, or
   *  in a cluster, where these keys may be on another node. */
  async writeOf(batch: readonly Envelope[]): Promise<BucketWrite | undefined> {
    if (this.redis.isCluster) return undefined;
    const { inBuckets, overflow } = await this.#writesOf(batch);
    return inBuckets.length === 1 && overflow.length === 0 ? inBuckets[0] : undefined;
  }

  async #writesOf(batch: readonly Envelope[]): Promise<{ inBuckets: BucketWrite[]; overflow: OverflowWrite[] }> {
    const sources = await this.deps.sources.write(batch);
    const ttlMs = this.deps.retentionMs + SLACK_MS;
    const byBucket = new Map<string, BucketWrite>();
    const overflow: OverflowWrite[] = [];
    for (const [position, event] of batch.entries()) {
      const text = writeEvent(event, sources[position] as EncodedSource);
      if (isOverflow(event)) {
        overflow.push({ position, event, text });
        continue;
      }
      const bucket = bucketOf(this.keys, event.env, event.internalId);
      const write = byBucket.get(bucket) ?? { bucket, ttlMs, positions: [], args: [] };
      byBucket.set(bucket, write);
      write.positions.push(position);
      write.args.push(fieldOf(event.internalId), text);
    }
    return { inBuckets: [...byBucket.values()], overflow };
  }

  /** @returns positions of the events that were already stored */
  async #storeInBucket({ bucket, ttlMs, args }: BucketWrite): Promise<number[]> {
    return (await this.redis.storeEvents(bucket, ttlMs, ...args)) as number[];
  }

  /** @returns whether it was new */
  async #storeOverflow({ event: { env, internalId }, text }: OverflowWrite): Promise<boolean> {
    const { bucket, field, overflow } = locationOf(this.keys, env, internalId);
    return (await this.redis.storeOverflowEvent(bucket, overflow, field, text, this.deps.retentionMs)) === 1;
  }

  /** The result is in the order of the IDs; undefined for events that are not stored. */
  async read(env: string, ids: readonly string[]): Promise<(FoundRecord | undefined)[]> {
    const inBuckets = await this.#inBuckets(env, ids, (bucket, fields) => [['hmget', bucket, ...fields]]);
    const texts = await this.#orOverflow(env, ids, inBuckets, (key) => ['get', key]);
    const parts = texts.map((text, i) => (text ? readEvent(ids[i] as string, text) : undefined));
    const sources = await this.deps.sources.read(
      env,
      parts.map((part) => part?.source),
    );
    return parts.map((part, i) => part && { ...part, source: sources[i] as Source });
  }

  /** Like `read`, for the sources only. */
  async readSources(env: string, ids: readonly string[]): Promise<(Source | undefined)[]> {
    const inBuckets = await this.#inBuckets(env, ids, (bucket, fields) =>
      chunksOf(fields, METADATA_AT_ONCE).map((some) => ['readMetadata', bucket, ...some]),
    );
    const lines = await this.#orOverflow(env, ids, inBuckets, (key) => ['getrange', key, -FACTS_MAX, -1]);
    return this.deps.sources.read(
      env,
      lines.map((line) => (line ? readSource(line) : undefined)),
    );
  }

  /** IDs of the events that are stored. */
  async present(env: string, ids: readonly string[]): Promise<Set<string>> {
    // A field without text says that the event was moved to its overflow key.
    const inBuckets = await this.#inBuckets(env, ids, (bucket, fields) =>
      fields.map((field) => ['hstrlen', bucket, field]),
    );
    const lengths = await this.#orOverflow(env, ids, inBuckets, (key) => ['exists', key]);
    return new Set(ids.filter((_, i) => Number(lengths[i]) > 0));
  }

  /** Keeps the event for at least `ms` from now. */
  async extendRetention(env: string, id: string, ms: number): Promise<void> {
    const { bucket, field, overflow } = locationOf(this.keys, env, id);
    await this.redis.extendRetention(bucket, overflow, field, ms);
  }

  /** Replies to the commands for the fields of each bucket, by event ID. */
  async #inBuckets(
    env: string,
    ids: readonly string[],
    commandsFor: (bucket: string, fields: string[]) => string[][],
  ): Promise<Map<string, string | null>> {
    const byBucket = Map.groupBy(ids, (id) => bucketOf(this.keys, env, id));
    const commands = [...byBucket].flatMap(([bucket, some]) => commandsFor(bucket, some.map(fieldOf)));
    const found = (await inPipelines<(string | null)[]>(this.redis, commands)).flat();
    return new Map([...byBucket.values()].flat().map((id, i) => [id, found[i] ?? null]));
  }

  /** The result is in the order of the IDs: the reply from the bucket, otherwise the reply from the overflow key. */
  async #orOverflow(
    env: string,
    ids: readonly string[],
    inBuckets: ReadonlyMap<string, string | null>,
    command: (key: string) => (string | number)[],
  ): Promise<(string | null)[]> {
    const rest = ids.filter((id) => !inBuckets.get(id));
    const commands = rest.map((id) => command(this.keys.of(id).overflowEvent(env, id)));
    const overflow = (await inPipelines<string | null>(this.redis, commands)).values();
    return ids.map((id) => inBuckets.get(id) || (overflow.next().value ?? null));
  }
}

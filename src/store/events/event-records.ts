/** The events themselves, as text (model/events/event-encoding.ts), in their places. */
import type { Envelope, RecordParts, Source } from '../../model/events/event.ts';
import { type EncodedSource, FACTS_MAX, readEvent, readSource, writeEvent } from '../../model/events/event-encoding.ts';
import { inPipelines, replies } from '../redis/connection.ts';
import type { Keyspace } from '../redis/keyspace.ts';
import type { ScriptedPipeline, ScriptedRedis } from '../redis/scripts.ts';
import { bucketOf, fieldOf, isOverflow, locationOf, SLACK_MS } from './event-location.ts';
import type { EventSources } from './event-sources.ts';

export type FoundRecord = RecordParts & { source: Source };

/** Texts that are searched in one script: each may have half a megabyte. */
const LINES_AT_ONCE = 50;

export class EventRecords {
  readonly #redis: ScriptedRedis;
  readonly #keys: Keyspace;
  readonly #sources: EventSources;
  readonly #retentionMs: number;

  constructor({
    redis,
    keys,
    sources,
    retentionMs,
  }: { redis: ScriptedRedis; keys: Keyspace; sources: EventSources; retentionMs: number }) {
    this.#redis = redis;
    this.#keys = keys;
    this.#sources = sources;
    this.#retentionMs = retentionMs;
  }

  /** Stores each that is not there yet.
   *  @returns of each, whether it was stored now */
  async store(batch: readonly Envelope[]): Promise<boolean[]> {
    const sources = await this.#sources.write(batch);
    const pipeline = this.#redis.pipeline();
    const buckets = new Set<string>();
    for (const [i, event] of batch.entries()) {
      const text = writeEvent(event, sources[i] as EncodedSource);
      const bucket = bucketOf(this.#keys, event.env, event.internalId);
      if (isOverflow(event)) {
        this.#storeOverflow(pipeline, event, text);
      } else {
        buckets.add(bucket);
        pipeline.hsetnx(bucket, fieldOf(event.internalId), text);
      }
    }
    for (const bucket of buckets) {
      // GT alone gives no end to what has none.
      pipeline.pexpire(bucket, this.#retentionMs + SLACK_MS, 'NX');
      pipeline.pexpire(bucket, this.#retentionMs + SLACK_MS, 'GT');
    }
    const stored = replies<number>(await pipeline.exec());
    return batch.map((_, i) => stored[i] === 1);
  }

  #storeOverflow(pipeline: ScriptedPipeline, { env, internalId }: Envelope, text: string): void {
    const { bucket, field, copy } = locationOf(this.#keys, env, internalId);
    pipeline.storeOverflowEvent(bucket, copy, field, text, this.#retentionMs);
  }

  /** In the order of the IDs; undefined: it is not there. */
  async read(env: string, ids: readonly string[]): Promise<(FoundRecord | undefined)[]> {
    const inBuckets = await this.#inBuckets(env, ids, (bucket, fields) => [['hmget', bucket, ...fields]]);
    const texts = await this.#orCopies(env, ids, inBuckets, (copy) => ['get', copy]);
    const parts = texts.map((text, i) => (text ? readEvent(ids[i] as string, text) : undefined));
    const sources = await this.#sources.read(
      env,
      parts.map((part) => part?.source),
    );
    return parts.map((part, i) => part && { ...part, source: sources[i] as Source });
  }

  /** The same, of the sources alone. */
  async readSources(env: string, ids: readonly string[]): Promise<(Source | undefined)[]> {
    const inBuckets = await this.#inBuckets(env, ids, (bucket, fields) =>
      chunksOf(fields, LINES_AT_ONCE).map((some) => ['readMetadata', bucket, ...some]),
    );
    const lines = await this.#orCopies(env, ids, inBuckets, (copy) => ['getrange', copy, -FACTS_MAX, -1]);
    return this.#sources.read(
      env,
      lines.map((line) => (line ? readSource(line) : undefined)),
    );
  }

  /** The event stays for at least so long. */
  async extendRetention(env: string, id: string, ms: number): Promise<void> {
    const { bucket, field, copy } = locationOf(this.#keys, env, id);
    await this.#redis.extendRetention(bucket, copy, field, ms);
  }

  /** What the commands for the fields of each bucket answer, by ID. */
  async #inBuckets(
    env: string,
    ids: readonly string[],
    commandsFor: (bucket: string, fields: string[]) => string[][],
  ): Promise<Map<string, string | null>> {
    const byBucket = Map.groupBy(ids, (id) => bucketOf(this.#keys, env, id));
    const commands = [...byBucket].flatMap(([bucket, inIt]) => commandsFor(bucket, inIt.map(fieldOf)));
    const found = (await inPipelines<(string | null)[]>(this.#redis, commands)).flat();
    return new Map([...byBucket.values()].flat().map((id, i) => [id, found[i] ?? null]));
  }

  /** In the order of the IDs: what the buckets gave, or else what the command for the copy answers. */
  async #orCopies(
    env: string,
    ids: readonly string[],
    inBuckets: ReadonlyMap<string, string | null>,
    command: (copy: string) => (string | number)[],
  ): Promise<(string | null)[]> {
    const rest = ids.filter((id) => !inBuckets.get(id));
    const commands = rest.map((id) => command(this.#keys.overflowEvent(env, id)));
    const copies = (await inPipelines<string | null>(this.#redis, commands)).values();
    return ids.map((id) => inBuckets.get(id) || (copies.next().value ?? null));
  }
}

function chunksOf<T>(list: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, i) => list.slice(i * size, (i + 1) * size));
}

/** How much Redis has of an environment: estimates from a sample of its events, with a bounded number of commands. */
import { bucketOf, fieldOf, sliceOf } from '../events/event-location.ts';
import { MINUTE_MS } from '../events/keys.ts';
import { type Command, inPipelines, type Redis } from '../redis/connection.ts';
import type { Keyspace, PartitionKeyspace } from '../redis/keyspace.ts';

/** Minutes and events to look at. */
const SAMPLES = 40;
const RUN_SAMPLES = 20;
/** Fields of a hash to look at: more than a run has, apart from its steps. */
const FIELD_SAMPLES = 50;
const RUN_ID_LENGTH = 26;
/** The entries of an event and of a run in indexes: a member of 26 characters in a sorted set, with its score. */
const INDEX_BYTES = 110;

/** All but the time are estimates. */
export interface HotUse {
  events: number;
  runs: number;
  /** undefined: Redis does not tell (MEMORY USAGE is forbidden). */
  bytes: number | undefined;
  /** Minute of the oldest event, Unix milliseconds; undefined: there is none. */
  oldestAt: number | undefined;
}

interface SampledMinute {
  keys: PartitionKeyspace;
  minute: number;
  /** Minutes that this one stands for. */
  weight: number;
}

export class HotStorage {
  readonly #redis: Redis;
  readonly #keys: Keyspace;

  constructor(redis: Redis, keys: Keyspace) {
    this.#redis = redis;
    this.#keys = keys;
  }

  async of(env: string): Promise<HotUse> {
    const minutes = await this.#minutes(env);
    const counts = await this.#ask<string | null>(
      minutes.map(({ keys, minute }) => ['hget', keys.eventsByMinute(env, minute), '']),
    );
    const events = minutes.reduce((sum, { weight }, i) => sum + weight * Number(counts[i] ?? 0), 0);
    const oldestAt = minutes.reduce<number | undefined>(
      (least, { minute }) => Math.min(least ?? minute, minute),
      undefined,
    );
    const ids = await this.#sampleEvents(env, minutes);
    if (ids.length === 0) return { events: Math.round(events), runs: 0, bytes: events === 0 ? 0 : undefined, oldestAt };
    const runIds = await this.#runsOf(env, ids);
    const runs = events * (runIds.length / ids.length);
    const [perEvent, perRun] = await Promise.all([
      this.#bytesPerEvent(env, ids),
      this.#bytesPerRun(env, runIds.slice(0, RUN_SAMPLES)),
    ]);
    const bytes = perEvent === undefined || perRun === undefined ? undefined : events * perEvent + runs * perRun;
    return { events: Math.round(events), runs: Math.round(runs), bytes: bytes && Math.round(bytes), oldestAt };
  }

  #ask<T>(commands: readonly Command[]): Promise<T[]> {
    return inPipelines<T>(this.#redis, commands);
  }

  /** Evenly spread over those that have events, the oldest one among them. */
  async #minutes(env: string): Promise<SampledMinute[]> {
    const partitions = this.#keys.all();
    const lengths = await this.#ask<number>(partitions.map((keys) => ['zcard', keys.eventMinutes(env)]));
    const perPartition = Math.max(2, Math.floor(SAMPLES / partitions.length));
    const wanted = partitions.flatMap((keys, i) => {
      const length = lengths[i] as number;
      const count = Math.min(length, perPartition);
      return Array.from({ length: count }, (_, at) => {
        return { keys, rank: Math.floor((at * length) / count), weight: length / count };
      });
    });
    const found = await this.#ask<string[]>(
      wanted.map(({ keys, rank }) => ['zrange', keys.eventMinutes(env), rank, rank]),
    );
    return wanted.flatMap(({ keys, weight }, i) => {
      const [minute] = found[i] as string[];
      return minute === undefined ? [] : [{ keys, minute: Number(minute), weight }];
    });
  }

  /** One of each minute. */
  async #sampleEvents(env: string, minutes: readonly SampledMinute[]): Promise<string[]> {
    const names = await this.#ask<string[]>(
      minutes.map(({ keys, minute }) => ['hrandfield', keys.eventsByMinute(env, minute), 2]),
    );
    const groups = minutes.flatMap(({ keys, minute }, i) => {
      const name = names[i]?.find((one) => one !== '');
      return name === undefined ? [] : [{ keys, minute, name }];
    });
    const ids = await this.#ask<string[]>(
      groups.map(({ keys, minute, name }) => {
        return ['zrangebyscore', keys.eventIndex(env, name), minute, `(${minute + MINUTE_MS}`, 'LIMIT', 0, 1];
      }),
    );
    return ids.flat();
  }

  async #runsOf(env: string, eventIds: readonly string[]): Promise<string[]> {
    const found = await this.#ask<string | null>(
      eventIds.map((id) => ['hget', this.#keys.of(id).eventRuns(env, sliceOf(id)), fieldOf(id)]),
    );
    return found.flatMap((text) => text?.match(new RegExp(`.{${RUN_ID_LENGTH}}`, 'g')) ?? []);
  }

  async #bytesPerEvent(env: string, ids: readonly string[]): Promise<number | undefined> {
    const buckets = ids.map((id) => bucketOf(this.#keys, env, id));
    const [lengths, sizes] = await Promise.all([
      this.#ask<number>(buckets.map((bucket) => ['hlen', bucket])),
      this.#sizes(buckets),
    ]);
    if (sizes === undefined) return undefined;
    const each = sizes.map((size, i) => size / Math.max(1, lengths[i] as number));
    return mean(each) + INDEX_BYTES;
  }

  async #bytesPerRun(env: string, runIds: readonly string[]): Promise<number | undefined> {
    if (runIds.length === 0) return 0;
    const sizes = await this.#sizes(
      runIds.flatMap((id) => {
        const keys = this.#keys.of(id);
        return [
          keys.run(env, id),
          keys.memos(env, id),
          keys.stack(env, id),
          keys.history(env, id),
          keys.metadata(env, id),
          keys.logs(env, id),
        ];
      }),
    );
    return sizes && sizes.reduce((sum, size) => sum + size, 0) / runIds.length + INDEX_BYTES;
  }

  /** Redis extrapolates from so many fields, among which a run's output should be. One command each: in a pipeline of a cluster each key must be on the same node. */
  async #sizes(keys: readonly string[]): Promise<number[] | undefined> {
    try {
      return await Promise.all(
        keys.map(async (key) => (await this.#redis.memory('USAGE', key, 'SAMPLES', FIELD_SAMPLES)) ?? 0),
      );
    } catch {
      return undefined;
    }
  }
}

function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0) / numbers.length;
}

/** Redis memory of an environment, estimated from a sample of its events with a bounded number of commands. */
import { ENDINGS } from '../../model/runs/run.ts';
import { sum } from '../../model/values/sum.ts';
import { MINUTE_MS } from '../../model/values/time.ts';
import { bucketOf, fieldOf, sliceOf } from '../events/event-location.ts';
import { type Command, inPipelines, type Redis } from '../redis/connection/connection.ts';
import type { PartitionKeyspace } from '../redis/keyspace/keyspace.ts';
import { Repository } from '../redis/repository.ts';
import type { EndedRunIndex } from '../runs/ended-run-index.ts';
import { type SampledMinute, sampleMinutes } from './sampled-minutes.ts';

/** Number of sampled minutes. */
const SAMPLES = 40;
const RUN_SAMPLES = 20;
/** Sampled fields of a minute: event names, and the total. */
const NAMES = 4;
/** Number of fields sampled of a hash: more than a run has, not counting its steps. */
const FIELD_SAMPLES = 50;
const RUN_ID_LENGTH = 26;
/** Index entries of an event and of a run: a member of 26 characters in a sorted set, with its score. */
const INDEX_BYTES = 110;

export interface HotUse {
  /** Exact for few minutes, otherwise estimated from samples. */
  events: number;
  /** Like `events`; active runs are always counted exactly. */
  runs: number;
  /** An estimate; undefined if MEMORY USAGE is forbidden. */
  bytes: number | undefined;
  /** Minute of the oldest event, Unix milliseconds; undefined if there are no events. */
  oldestAt: number | undefined;
}

/** `weight`: number of events that this sample represents. */
interface SampledEvent {
  id: string;
  weight: number;
}

export class HotStorage extends Repository<Redis, { endedRuns: Pick<EndedRunIndex, 'countsIn'> }> {
  async of(env: string): Promise<HotUse> {
    const indexes = this.keys.all().map((keys) => ({ key: keys.eventMinutes(env), of: keys }));
    const minutes = await sampleMinutes(this.redis, indexes, SAMPLES);
    const texts = await this.#ask<string | null>(
      minutes.map(({ of: keys, minute }) => ['hget', keys.eventsByMinute(env, minute), '']),
    );
    const counts = texts.map((text, i) => Number(text ?? 0) * (minutes[i]?.weight ?? 0));
    const events = sum(counts);
    const oldestAt = minutes.reduce<number | undefined>(
      (least, { minute }) => Math.min(least ?? minute, minute),
      undefined,
    );
    const runs = await this.#countRuns(env);
    const sampled = await this.#sampleEvents(env, minutes);
    const [perEvent, perRun] = await Promise.all([this.#bytesPerEvent(env, sampled), this.#bytesPerRun(env, sampled)]);
    const isKnown = perEvent !== undefined && perRun !== undefined && (sampled.length > 0 || events === 0);
    return {
      events: Math.round(events),
      runs: Math.round(runs),
      bytes: isKnown ? Math.round(events * perEvent + runs * perRun) : undefined,
      oldestAt,
    };
  }

  async #countRuns(env: string): Promise<number> {
    const partitions = this.keys.all();
    const active = await this.#ask<number>(partitions.map((keys) => ['zcard', keys.activeRunsIn(env)]));
    const indexes = partitions.flatMap((keys) => {
      return ENDINGS.map((ending) => ({ key: keys.endedRunMinutes(env, ending), of: { keys, ending } }));
    });
    const minutes = await sampleMinutes(this.redis, indexes, SAMPLES * ENDINGS.length);
    const segments = minutes.map(({ of, minute }) => ({ ...of, env, minute }));
    const ended = await this.deps.endedRuns.countsIn(segments);
    return sum(active) + sum(ended.map((count, i) => count * (minutes[i]?.weight ?? 0)));
  }

  #ask<T>(commands: readonly Command[]): Promise<T[]> {
    return inPipelines<T>(this.redis, commands);
  }

  /** Samples one event for each of a few names per minute. */
  async #sampleEvents(env: string, minutes: readonly SampledMinute<PartitionKeyspace>[]): Promise<SampledEvent[]> {
    const found = await this.#ask<string[]>(
      minutes.map(({ of: keys, minute }) => ['hrandfield', keys.eventsByMinute(env, minute), NAMES, 'WITHVALUES']),
    );
    const groups = minutes.flatMap(({ of: keys, minute, weight }, i) => {
      const flat = found[i] as string[];
      const names = Array.from(
        { length: flat.length / 2 },
        (_, at) => [flat[2 * at] as string, flat[2 * at + 1]] as const,
      );
      // The field with the empty name has the total.
      return names.flatMap(([name, count]) =>
        name === '' ? [] : [{ keys, minute, name, weight: weight * Number(count) }],
      );
    });
    const ids = await this.#ask<string[]>(
      groups.map(({ keys, minute, name }) => {
        return ['zrangebyscore', keys.eventIndex(env, name), minute, `(${minute + MINUTE_MS}`, 'LIMIT', 0, 1];
      }),
    );
    return ids.flatMap((found, i) => found.map((id) => ({ id, weight: groups[i]?.weight ?? 0 })));
  }

  async #runsOf(env: string, eventIds: readonly string[]): Promise<string[]> {
    const found = await this.#ask<string | null>(
      eventIds.map((id) => ['hget', this.keys.of(id).eventRuns(env, sliceOf(id)), fieldOf(id)]),
    );
    return found.flatMap((text) => text?.match(new RegExp(`.{${RUN_ID_LENGTH}}`, 'g')) ?? []);
  }

  /** Mean size of an event, weighted by the events per minute. */
  async #bytesPerEvent(env: string, sampled: readonly SampledEvent[]): Promise<number | undefined> {
    const buckets = sampled.map(({ id }) => bucketOf(this.keys, env, id));
    const [lengths, sizes] = await Promise.all([
      this.#ask<number>(buckets.map((bucket) => ['hlen', bucket])),
      this.#sizes(buckets),
    ]);
    if (sizes === undefined) return undefined;
    const each = sizes.map((size, i) => (size / Math.max(1, lengths[i] as number)) * (sampled[i]?.weight ?? 0));
    const weight = sum(sampled.map(({ weight }) => weight));
    return weight === 0 ? 0 : sum(each) / weight + INDEX_BYTES;
  }

  async #bytesPerRun(env: string, sampled: readonly SampledEvent[]): Promise<number | undefined> {
    const ids = sampled.map(({ id }) => id);
    const runIds = (await this.#runsOf(env, ids)).slice(0, RUN_SAMPLES);
    if (runIds.length === 0) return 0;
    const sizes = await this.#sizes(
      runIds.flatMap((id) => {
        const keys = this.keys.of(id);
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
    return sizes && sum(sizes) / runIds.length + INDEX_BYTES;
  }

  /** MEMORY USAGE extrapolates from this many fields, which should include a run's output. One command per key, because a cluster's
   *  pipeline requires all keys on the same node. */
  async #sizes(keys: readonly string[]): Promise<number[] | undefined> {
    try {
      return await Promise.all(
        keys.map(async (key) => (await this.redis.memory('USAGE', key, 'SAMPLES', FIELD_SAMPLES)) ?? 0),
      );
    } catch {
      return undefined;
    }
  }
}

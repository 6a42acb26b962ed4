/** Numbers that represent frequent sources of events: event keys and webhooks. A number is assigned once and never changes, so processes
 *  cache them in memory. */
import { PRODUCTION } from '../../model/environment.ts';
import { type Source, subjectOf } from '../../model/events/event.ts';
import type { EncodedSource } from '../../model/events/event-encoding.ts';
import type { ScriptedRedis } from '../redis/connection/scripts.ts';
import type { Keyspace } from '../redis/keyspace/keyspace.ts';
import { Repository } from '../redis/repository.ts';

/** A deleted environment may be created again with other numbers, but not sooner than this (jobs/environments/branch-lifecycle.ts).
 *  Production is never deleted. */
const CACHED_MS = 4_000;

interface Cached {
  since: number;
  numbers: Map<string, number>;
  sources: Map<number, Source>;
}

export class EventSources extends Repository {
  readonly #byEnv = new Map<string, Cached>();

  constructor(redis: ScriptedRedis, keys: Keyspace) {
    super(redis, keys);
    // A restarted Redis may have lost the latest numbers and assign them again.
    redis.on('ready', () => this.#byEnv.clear());
  }

  /** The stored form of each event's source. */
  async write(events: readonly { env: string; source: Source }[]): Promise<EncodedSource[]> {
    const written: EncodedSource[] = [];
    for (const { env, source } of events) {
      const number = this.#cachedOf(env).numbers.get(source);
      written.push(number ?? (hasNumber(source) ? await this.#assign(env, source) : source));
    }
    return written;
  }

  /** The sources of stored forms; "" for an unknown number. */
  async read(env: string, written: readonly (EncodedSource | undefined)[]): Promise<(Source | undefined)[]> {
    const cached = this.#cachedOf(env);
    const { sources } = cached;
    if (written.some((source) => typeof source === 'number' && !sources.has(source))) {
      const all = await this.redis.hgetall(this.keys.eventSources(env));
      for (const [source, number] of Object.entries(all)) add(cached, source as Source, Number(number));
    }
    return written.map((source) => (typeof source === 'number' ? (sources.get(source) ?? ('' as Source)) : source));
  }

  async #assign(env: string, source: Source): Promise<number> {
    const number = (await this.redis.assignSourceNumber(this.keys.eventSources(env), source)) as number;
    add(this.#cachedOf(env), source, number);
    return number;
  }

  #cachedOf(env: string): Cached {
    const present = this.#byEnv.get(env);
    if (present && (env === PRODUCTION || Date.now() - present.since < CACHED_MS)) return present;
    const cached = { since: Date.now(), numbers: new Map(), sources: new Map() };
    this.#byEnv.set(env, cached);
    return cached;
  }
}

function add({ numbers, sources }: Cached, source: Source, number: number): void {
  numbers.set(source, number);
  sources.set(number, source);
}

/** Whether the source is of a kind with few members that send many events. */
function hasNumber(source: Source): boolean {
  return (subjectOf(source, 'event-key') ?? subjectOf(source, 'webhook')) !== undefined;
}

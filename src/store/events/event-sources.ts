/** Numbers that stand for the sources of events which come again and again: event keys and webhooks. A number, once given, stands for
 *  its source for ever, so processes keep what they have learnt in memory. */
import { PRODUCTION } from '../../model/environment.ts';
import { type Source, subjectOf } from '../../model/events/event.ts';
import type { EncodedSource } from '../../model/events/event-encoding.ts';
import type { Keyspace } from '../redis/keyspace.ts';
import type { ScriptedRedis } from '../redis/scripts.ts';

/** An environment that is deleted may come back with other numbers, no sooner than this (jobs/environments/branch-lifecycle.ts). Production stays. */
const KNOWN_MS = 4_000;

interface Known {
  since: number;
  numbers: Map<string, number>;
  sources: Map<number, Source>;
}

export class EventSources {
  readonly #redis: ScriptedRedis;
  readonly #keys: Keyspace;
  readonly #byEnv = new Map<string, Known>();

  constructor(redis: ScriptedRedis, keys: Keyspace) {
    this.#redis = redis;
    this.#keys = keys;
    // A Redis that comes back may have lost the last numbers it gave, and give them anew.
    redis.on('ready', () => this.#byEnv.clear());
  }

  /** How each event's source is written. */
  async write(events: readonly { env: string; source: Source }[]): Promise<EncodedSource[]> {
    const written: EncodedSource[] = [];
    for (const { env, source } of events) {
      const number = this.#knownOf(env).numbers.get(source);
      written.push(number ?? (hasNumber(source) ? await this.#ask(env, source) : source));
    }
    return written;
  }

  /** What was written, read; "" for a number that nobody knows any more. */
  async read(env: string, written: readonly (EncodedSource | undefined)[]): Promise<(Source | undefined)[]> {
    const known = this.#knownOf(env);
    const { sources } = known;
    if (written.some((source) => typeof source === 'number' && !sources.has(source))) {
      const all = await this.#redis.hgetall(this.#keys.eventSources(env));
      for (const [source, number] of Object.entries(all)) learn(known, source as Source, Number(number));
    }
    return written.map((source) => (typeof source === 'number' ? (sources.get(source) ?? ('' as Source)) : source));
  }

  async #ask(env: string, source: Source): Promise<number> {
    const number = (await this.#redis.assignSourceNumber(this.#keys.eventSources(env), source)) as number;
    learn(this.#knownOf(env), source, number);
    return number;
  }

  #knownOf(env: string): Known {
    const held = this.#byEnv.get(env);
    if (held && (env === PRODUCTION || Date.now() - held.since < KNOWN_MS)) return held;
    const known = { since: Date.now(), numbers: new Map(), sources: new Map() };
    this.#byEnv.set(env, known);
    return known;
  }
}

function learn({ numbers, sources }: Known, source: Source, number: number): void {
  numbers.set(source, number);
  sources.set(number, source);
}

/** Those of which there are few and that send much. */
function hasNumber(source: Source): boolean {
  return (subjectOf(source, 'event-key') ?? subjectOf(source, 'webhook')) !== undefined;
}

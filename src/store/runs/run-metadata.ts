/** Metadata of runs: one hash per run, made with the first metadata. A field for each kind of each target has the time of its last change;
 *  the fields that begin with it and a line break have the values, as JSON. */
import {
  METADATA_MAX_BYTES,
  METADATA_MAX_VALUES,
  type Metadata,
  type MetadataTarget,
  type MetadataUpdate,
} from '../../model/runs/metadata.ts';
import { parseStored } from '../../model/values/json.ts';
import type { Keyspace } from '../redis/keyspace.ts';
import type { ScriptedRedis } from '../redis/scripts.ts';

/** Neither JSON nor kinds have it. */
const SEPARATOR = '\n';

type StoredTarget = [
  scope: MetadataTarget['scope'],
  stepId: string | null,
  attempt: number | null,
  spanId: string | null,
];

export class RunMetadata {
  readonly #redis: ScriptedRedis;
  readonly #keys: Keyspace;

  constructor(redis: ScriptedRedis, keys: Keyspace) {
    this.#redis = redis;
    this.#keys = keys;
  }

  /** Repeating an update changes nothing.
   *  @returns 'full': the run would have too much metadata, and nothing changed; 'gone': there is no such run */
  async update(
    env: string,
    runId: string,
    target: MetadataTarget,
    { kind, op, values }: MetadataUpdate,
    nowMs: number,
  ): Promise<'stored' | 'full' | 'gone'> {
    const pairs = Object.entries(values).flatMap(([name, value]) =>
      value === undefined ? [] : [name, JSON.stringify(value)],
    );
    const field = fieldOf(target) + SEPARATOR + kind;
    const bounds = [METADATA_MAX_BYTES, METADATA_MAX_VALUES];
    const key = this.#keys.of(runId).run(env, runId);
    return (await this.#redis.setMetadata(key, field, op, nowMs, ...bounds, ...pairs)) as 'stored' | 'full' | 'gone';
  }

  async read(env: string, runId: string): Promise<Metadata[]> {
    const fields = await this.#redis.hgetall(this.#keys.of(runId).metadata(env, runId));
    const found = new Map<string, Metadata>();
    for (const [field, text] of Object.entries(fields)) {
      const [target = '', kind = '', ...rest] = field.split(SEPARATOR);
      const entry = found.get(target + SEPARATOR + kind) ?? { ...targetFrom(target), kind, values: {}, updatedAt: 0 };
      found.set(target + SEPARATOR + kind, entry);
      if (rest.length === 0) entry.updatedAt = Number(text);
      else entry.values[rest.join(SEPARATOR)] = parseStored(text);
    }
    return [...found.values()].sort((a, b) => a.updatedAt - b.updatedAt || a.kind.localeCompare(b.kind));
  }
}

function fieldOf({ scope, stepId, attempt, spanId }: MetadataTarget): string {
  return JSON.stringify([scope, stepId ?? null, attempt ?? null, spanId ?? null] satisfies StoredTarget);
}

function targetFrom(text: string): MetadataTarget {
  const [scope, stepId, attempt, spanId] = JSON.parse(text) as StoredTarget;
  return { scope, stepId: stepId ?? undefined, attempt: attempt ?? undefined, spanId: spanId ?? undefined };
}

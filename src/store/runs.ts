/** Runs. A run's record, made once under its derived ID, is what makes every repetition of work on it harmless. It lives until the
 *  run has ended, and then for the retention. */
import type { EventRecord } from '../model/event.ts';
import type { Run, RunError, RunStatus } from '../model/run.ts';
import type { Keyspace } from './keyspace.ts';
import { type Redis, replies } from './redis.ts';
import { type ScriptedRedis, withScripts } from './scripts.ts';

export type NewRun = Pick<Run, 'id' | 'env' | 'functionId' | 'eventId' | 'requestId' | 'queuedAt'>;

/** A run that is to be worked on, with the event it works on; no event when that is gone from the store. */
export interface Attempt {
  run: Run;
  event: EventRecord | undefined;
}

export type Ending =
  | { status: 'Completed'; output: string }
  | { status: 'Failed'; error: RunError; output?: undefined }
  | { status: 'Cancelled'; output?: undefined };

export class Runs {
  readonly #redis: ScriptedRedis;
  readonly #keys: Keyspace;
  readonly #retentionMs: number;

  constructor(redis: Redis, keys: Keyspace, retentionMs: number) {
    this.#redis = withScripts(redis);
    this.#keys = keys;
    this.#retentionMs = retentionMs;
  }

  /** Makes each run that is not there yet. */
  async create(runs: readonly NewRun[]): Promise<void> {
    if (runs.length === 0) return;
    const pipeline = this.#redis.pipeline();
    for (const { id, env, functionId, eventId, requestId, queuedAt } of runs) {
      const origin = ['function_id', functionId, 'event_id', eventId, 'request_id', requestId];
      const state = ['status', 'Queued', 'attempt', 0, 'queued_at', queuedAt];
      const keys = [this.#keys.run(env, id), this.#keys.eventRuns(env, eventId)];
      pipeline.createRun(...keys, id, queuedAt, this.#retentionMs, ...origin, ...state);
    }
    replies(await pipeline.exec());
  }

  /** Marks the run as worked on and reads it with its event; undefined when there is nothing left to do for it. */
  async startAttempt(
    env: string,
    id: string,
    eventId: string,
    attempt: number,
    nowMs: number,
  ): Promise<Attempt | undefined> {
    const keys = [this.#keys.run(env, id), this.#keys.event(env, eventId)];
    const reply = (await this.#redis.startAttempt(...keys, nowMs, attempt, this.#retentionMs)) as
      | [string[], string | null]
      | null;
    if (!reply) return undefined;
    const [flat, event] = reply;
    const fields: Record<string, string> = {};
    for (let i = 0; i < flat.length; i += 2) fields[flat[i] as string] = flat[i + 1] as string;
    return { run: toRun(env, id, fields), event: event === null ? undefined : (JSON.parse(event) as EventRecord) };
  }

  /** Notes why an attempt failed that will be repeated. */
  async noteFailure(env: string, id: string, error: RunError): Promise<void> {
    await this.#redis.hset(this.#keys.run(env, id), 'error', JSON.stringify(error));
  }

  /** Ends the run; what ended it first stands. */
  async end(env: string, id: string, ending: Ending, nowMs: number): Promise<void> {
    const fields: (string | number)[] = ['status', ending.status, 'ended_at', nowMs];
    if (ending.status === 'Completed') fields.push('output', ending.output);
    if (ending.status === 'Failed') fields.push('error', JSON.stringify(ending.error));
    await this.#redis.endRun(this.#keys.run(env, id), this.#retentionMs, ...fields);
  }

  async read(env: string, id: string): Promise<Run | undefined> {
    return (await this.#readMany(env, [id]))[0];
  }

  /** The runs that an event caused, in the order of their creation. */
  async ofEvent(env: string, eventId: string): Promise<Run[]> {
    return this.#readMany(env, await this.#redis.zrange(this.#keys.eventRuns(env, eventId), 0, '-1'));
  }

  async #readMany(env: string, ids: string[]): Promise<Run[]> {
    if (ids.length === 0) return [];
    const pipeline = this.#redis.pipeline();
    for (const id of ids) pipeline.hgetall(this.#keys.run(env, id));
    const found = replies<Record<string, string>>(await pipeline.exec());
    return found.flatMap((fields, i) => (fields.status ? [toRun(env, ids[i] as string, fields)] : []));
  }
}

function toRun(env: string, id: string, fields: Record<string, string>): Run {
  const { function_id, event_id, request_id, status, attempt, queued_at, started_at, ended_at, output, error } = fields;
  return {
    id,
    env,
    functionId: function_id as string,
    eventId: event_id as string,
    requestId: request_id as string,
    status: status as RunStatus,
    attempt: Number(attempt),
    queuedAt: Number(queued_at),
    ...(started_at && { startedAt: Number(started_at) }),
    ...(ended_at && { endedAt: Number(ended_at) }),
    ...(output !== undefined && { output }),
    ...(error !== undefined && { error: JSON.parse(error) as RunError }),
  };
}

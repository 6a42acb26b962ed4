/** Archived events that Redis keeps, or has again, because a run needs them: each under its overflow key (event-location.ts), until a check finds that its
 *  runs have ended and are archived. */
import { inPipelines } from '../redis/connection.ts';
import type { Keyspace } from '../redis/keyspace.ts';
import type { ScriptedRedis } from '../redis/scripts.ts';
import { fieldOf, locationOf, sliceOf } from './event-location.ts';

export class EventsInUse {
  readonly #redis: ScriptedRedis;
  readonly #keys: Keyspace;
  readonly #retentionMs: number;

  constructor(redis: ScriptedRedis, keys: Keyspace, retentionMs: number) {
    this.#redis = redis;
    this.#keys = keys;
    this.#retentionMs = retentionMs;
  }

  /** Stores an archived event, unless it is there.
   *  @param text model/events/event-encoding.ts
   *  @param dueAt time of the first check, Unix milliseconds */
  async add(env: string, id: string, text: string, dueAt: number): Promise<void> {
    const { overflow } = locationOf(this.#keys, env, id);
    const { eventsInUse } = this.#keys.of(id);
    // In this order: an event without an entry would stay for the whole retention.
    await this.#redis.zadd(eventsInUse, 'GT', dueAt, memberOf(env, id));
    await this.#redis.set(overflow, text, 'PX', this.#retentionMs, 'NX');
  }

  /** Postpones the checks of those that are in use.
   *  @returns for each, whether Redis has the event, archived or not */
  async keep(env: string, ids: readonly string[], dueAt: number): Promise<boolean[]> {
    const commands = ids.map((id) => {
      const { bucket, field, overflow } = locationOf(this.#keys, env, id);
      return ['keepEventInUse', bucket, overflow, this.#keys.of(id).eventsInUse, field, memberOf(env, id), dueAt];
    });
    return (await inPipelines<number>(this.#redis, commands)).map((kept) => kept === 1);
  }

  /** Events of a partition whose check is due, the longest overdue first. */
  async due(partition: number, nowMs: number, limit: number): Promise<{ env: string; id: string }[]> {
    const { eventsInUse } = this.#keys.partition(partition);
    const members = await this.#redis.zrangebyscore(eventsInUse, '-inf', nowMs, 'LIMIT', 0, limit);
    return members.map((member) => {
      const slash = member.lastIndexOf('/');
      return { env: member.slice(0, slash), id: member.slice(slash + 1) };
    });
  }

  /** Sets the time of the next check, if the event is still in use. */
  async postpone(env: string, id: string, dueAt: number): Promise<void> {
    await this.#redis.zadd(this.#keys.of(id).eventsInUse, 'XX', dueAt, memberOf(env, id));
  }

  /** Removes the event and the list of its runs.
   *  @param runIds all of its runs in Redis, as `runsOfEvents` returns them (store/runs/event-runs.ts)
   *  @returns false: it has got other runs since, and stays */
  async release(env: string, id: string, runIds: readonly string[]): Promise<boolean> {
    const { eventsInUse, overflowEvent, eventRuns, overflowEventRuns } = this.#keys.of(id);
    const keys = [overflowEvent(env, id), eventsInUse, eventRuns(env, sliceOf(id)), overflowEventRuns(env, id)];
    return (await this.#redis.releaseEventInUse(...keys, memberOf(env, id), fieldOf(id), runIds.join(''))) === 1;
  }
}

function memberOf(env: string, id: string): string {
  return `${env}/${id}`;
}

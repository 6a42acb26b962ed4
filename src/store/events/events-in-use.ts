/** Archived events that are also kept in Redis, at their overflow keys, while a run needs them. */

import { chunksOf } from '../../model/values/chunks.ts';
import { inPipelines, replies } from '../redis/connection/connection.ts';
import { idsIn } from '../redis/joined-ids.ts';
import type { PartitionKeyspace } from '../redis/keyspace/keyspace.ts';
import { type Position, toPositions } from '../redis/pagination.ts';
import { Repository } from '../redis/repository.ts';
import { fieldOf, locationOf, sliceOf } from './event-location.ts';

export interface EventInUse {
  env: string;
  id: string;
  /** The time of the check whether all its runs have ended, Unix milliseconds. */
  dueAt: number;
  runIds: string[];
}

/** Maximum number of events per script. */
const AT_ONCE = 200;

export class EventsInUse extends Repository {
  /** Keeps the event from now on, even if it is being removed concurrently. Repeating this postpones its check, which gives a starting
   *  run that much time.
   *  @param text model/events/event-encoding.ts */
  async add(env: string, id: string, text: string, dueAt: number): Promise<void> {
    const { overflowEvent, eventsInUse } = this.keys.of(id);
    await this.redis.useEvent(overflowEvent(env, id), eventsInUse, memberOf(env, id), text, dueAt);
  }

  /** Postpones the checks of events in use.
   *  @returns for each, where Redis has it, whether archived or not */
  async keep(env: string, ids: readonly string[], dueAt: number): Promise<('bucket' | 'copy' | 'gone')[]> {
    return inPipelines(
      this.redis,
      ids.map((id) => {
        const { bucket, field, overflow } = locationOf(this.keys, env, id);
        return ['keepEventInUse', bucket, overflow, this.keys.of(id).eventsInUse, field, memberOf(env, id), dueAt];
      }),
    );
  }

  /** Events whose check is due. */
  async due(partition: number, nowMs: number, limit: number): Promise<EventInUse[]> {
    const keys = this.keys.partition(partition);
    const found = toPositions(
      await this.redis.zrangebyscore(keys.eventsInUse, '-inf', nowMs, 'WITHSCORES', 'LIMIT', 0, limit),
    );
    if (found.length === 0) return [];
    const pipeline = this.redis.pipeline();
    const events = found.map(eventOf);
    for (const { env, id } of events) {
      pipeline.hget(keys.eventRuns(env, sliceOf(id)), fieldOf(id)).get(keys.overflowEventRuns(env, id));
    }
    const texts = replies<string | null>(await pipeline.exec());
    return events.map((event, i) => ({ ...event, runIds: idsIn((texts[2 * i] ?? '') + (texts[2 * i + 1] ?? '')) }));
  }

  /** Sets the time of the next check. */
  async postpone({ env, id }: EventInUse, dueAt: number): Promise<void> {
    await this.redis.zadd(this.keys.of(id).eventsInUse, 'XX', dueAt, memberOf(env, id));
  }

  /** Removes the copy of an event and its list of runs, unless either has changed since `due` read it. */
  async release({ env, id, dueAt, runIds }: EventInUse): Promise<void> {
    const keys = this.keys.of(id);
    const [copy, runs, overflow] = keysOf(keys, env, id);
    await this.redis.endUseOfEvent(
      keys.eventsInUse,
      copy,
      runs,
      overflow,
      memberOf(env, id),
      fieldOf(id),
      runIds.join(''),
      dueAt,
    );
  }

  /** Removes the records of archived events of one environment and partition, and, unless they are in use, their copies and lists of
   *  runs. */
  async remove(partition: number, env: string, ids: readonly string[]): Promise<void> {
    const { eventsInUse, eventBucket, overflowEvent, eventRuns, overflowEventRuns } = this.keys.partition(partition);
    const prefixes = [eventBucket, overflowEvent, eventRuns, overflowEventRuns].map((key) => key(env, ''));
    for (const some of chunksOf(ids, AT_ONCE)) {
      await this.redis.releaseEvents(eventsInUse, ...prefixes, memberOf(env, ''), ...some);
    }
  }
}

function keysOf(keys: PartitionKeyspace, env: string, id: string): [copy: string, runs: string, overflow: string] {
  return [keys.overflowEvent(env, id), keys.eventRuns(env, sliceOf(id)), keys.overflowEventRuns(env, id)];
}

/** Environment names may contain slashes, IDs do not. */
function memberOf(env: string, id: string): string {
  return `${env}/${id}`;
}

function eventOf({ id: member, at }: Position): Omit<EventInUse, 'runIds'> {
  const end = member.lastIndexOf('/');
  return { env: member.slice(0, end), id: member.slice(end + 1), dueAt: at };
}

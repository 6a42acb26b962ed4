/** An event group is the events of a function with the same key value: a batch or a debounce, which will have one run, or a lane, whose
 *  events run one after another. A group is in the partition of its function and key value; its events may be in other partitions. It is
 *  open until it is due; the events that it closes stay until their run is created. */
import { chunksOf } from '../../model/values/chunks.ts';
import type { ScriptedRedis } from '../redis/connection/scripts.ts';
import type { PartitionKeyspace } from '../redis/keyspace/keyspace.ts';
import { Repository } from '../redis/repository.ts';
import {
  recordTimerCheck,
  type TimerCheck,
  type TimerCheckReply,
  toTimerCheck,
  type WaitingFunction,
  waitingFunctions,
} from './timer-checks.ts';

/** A worker that has not created the runs within this time counts as dead. */
const LEASE_MS = 10_000;
/** Maximum number of events per script, which blocks Redis for about a millisecond. */
const ADDED_AT_ONCE = 100;

export interface GroupedEvent {
  /** Value of the key. */
  key: string;
  eventId: string;
  /** Batch: earliest start of its run (Unix milliseconds), size of its payload; debounce: the event's `ts`; lane: lanes.ts. */
  values: readonly [string | number, (string | number)?];
  /** An earlier try stored the event, and may have added it. */
  repeated: boolean;
}

/** Keys in the order of lua/lib/event-group.lua. */
export type GroupKeys = [
  open: string,
  times: string,
  starts: string,
  closed: string,
  closedTimes: string,
  closedEvents: string,
  timerCheck: string,
];

/** The differences between batches, debounces and lanes. `Options`: the function's current options. `Added`: the effect of an event. */
export interface GroupKind<Options, Added, Closed> {
  readonly name: 'batch' | 'debounce' | 'lane';
  /** Maximum number of groups per timer check, so that one function does not delay others for long. */
  readonly takenAtOnce: number;
  keys(homeKeys: PartitionKeyspace, env: string, functionId: string): GroupKeys;
  /** The first arguments of each script after the kind, as lua/lib/event-group.lua names them. */
  args(options: Options, homeKeys: PartitionKeyspace, env: string, functionId: string): (string | number)[];
  toAdded(reply: unknown): Added;
  /** Reads the format of lua/lib/<kind>.lua. */
  toClosed(id: string, text: string): Closed;
}

export interface EventGroupsDeps<Options, Added, Closed> {
  kind: GroupKind<Options, Added, Closed>;
  leaseMs: number | undefined;
}

export class EventGroups<Options, Added, Closed extends { id: string }> extends Repository<
  ScriptedRedis,
  EventGroupsDeps<Options, Added, Closed>
> {
  /** Adds each event to the open group of its key, once.
   *  @param beganAt start of the ingest job, Unix milliseconds
   *  @returns effects in the order of the events, and the timer checks to schedule */
  async add(
    env: string,
    functionId: string,
    options: Options,
    events: readonly GroupedEvent[],
    beganAt: number,
  ): Promise<{ added: Added[]; timerChecks: TimerCheck[] }> {
    const added = new Map<GroupedEvent, Added>();
    const timerChecks: TimerCheck[] = [];
    const byPartition = Map.groupBy(events, ({ key }) => this.keys.homeOf(`${env}/${functionId}/${key}`));
    for (const [homeKeys, ofPartition] of byPartition) {
      for (const some of chunksOf(ofPartition, ADDED_AT_ONCE)) {
        const args = some.flatMap(({ key, eventId, values: [first, second = ''], repeated }) => {
          return [key, eventId, first, second, +repeated];
        });
        const given = this.argsOf(homeKeys, env, functionId, options);
        const [timerCheck, results] = (await this.redis.addToEventGroups(...given, beganAt, ...args)) as [
          TimerCheckReply,
          unknown[],
        ];
        some.forEach((event, n) => {
          added.set(event, this.deps.kind.toAdded(results[n]));
        });
        timerChecks.push(...this.timerChecksIn(homeKeys, env, functionId, timerCheck));
      }
    }
    return { added: events.map((event) => added.get(event) as Added), timerChecks };
  }

  /** Closes due groups, and leases closed groups, so that no other worker takes them for a few seconds.
   *  @param at time of the timer check, Unix milliseconds; undefined if it has no time
   *  @returns the timer check to schedule, unless the caller completes groups next */
  async take(
    partition: number,
    env: string,
    functionId: string,
    options: Options,
    at: number | undefined,
  ): Promise<{ closed: Closed[]; timerChecks: TimerCheck[] }> {
    const homeKeys = this.keys.partition(partition);
    const given = this.argsOf(homeKeys, env, functionId, options);
    const { kind, leaseMs = LEASE_MS } = this.deps;
    const reply = await this.redis.takeEventGroups(...given, kind.takenAtOnce, leaseMs, at ?? '');
    const [timerCheck, ...flat] = reply as [TimerCheckReply, ...string[]];
    const closed = chunksOf(flat, 2).map(([id = '', text = '']) => kind.toClosed(id, text));
    return { closed, timerChecks: this.timerChecksIn(homeKeys, env, functionId, timerCheck) };
  }

  /** Records that the runs of the groups were created. */
  async complete(
    partition: number,
    env: string,
    functionId: string,
    options: Options,
    groups: readonly Closed[],
  ): Promise<{ timerChecks: TimerCheck[] }> {
    const homeKeys = this.keys.partition(partition);
    const given = this.argsOf(homeKeys, env, functionId, options);
    const timerCheck = (await this.redis.completeEventGroups(
      ...given,
      ...groups.map(({ id }) => id),
    )) as TimerCheckReply;
    return { timerChecks: this.timerChecksIn(homeKeys, env, functionId, timerCheck) };
  }

  /** Call after enqueueing the job of the timer check. */
  recordTimerCheck(timerCheck: TimerCheck): Promise<void> {
    return recordTimerCheck(this.redis, timerCheck);
  }

  /** Functions with open groups, and their partitions. */
  waiting(env: string, functionIds: readonly string[]): Promise<WaitingFunction[]> {
    return waitingFunctions(this.redis, this.keys, functionIds, (homeKeys, functionId) => {
      return this.deps.kind.keys(homeKeys, env, functionId)[0];
    });
  }

  protected argsOf(
    homeKeys: PartitionKeyspace,
    env: string,
    functionId: string,
    options: Options,
  ): (string | number)[] {
    const { name, keys, args } = this.deps.kind;
    return [...keys(homeKeys, env, functionId), name, ...args(options, homeKeys, env, functionId)];
  }

  protected timerChecksIn(
    homeKeys: PartitionKeyspace,
    env: string,
    functionId: string,
    reply: TimerCheckReply,
  ): TimerCheck[] {
    const timerCheck = toTimerCheck(reply, this.deps.kind.keys(homeKeys, env, functionId)[6], homeKeys.number);
    return timerCheck ? [timerCheck] : [];
  }
}

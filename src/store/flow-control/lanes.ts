/** Lanes: event groups whose events run one after another (lua/lib/lane.lua). An event that finds its lane idle starts immediately; all
 *  others wait without a run. */
import { hash } from 'node:crypto';
import type { LaneTurn, Order } from '../../model/flow-control/options.ts';
import { functionOf, isShared, webhookOf } from '../../model/flow-control/order-id.ts';
import { sum } from '../../model/values/sum.ts';
import { inPipelines, type ScriptedRedis } from '../redis/connection/connection.ts';
import type { Keyspace, PartitionKeyspace } from '../redis/keyspace/keyspace.ts';
import { EventGroups, type GroupKind } from './event-groups.ts';
import type { TimerCheck, TimerCheckReply, WaitingFunction } from './timer-checks.ts';

/** The current options of an order. */
export interface OrderOptions {
  windowMs: number;
  /** The functions that take part. */
  functions: readonly { id: string; onStale: Order['onStale'] }[];
}

/** A pair of event and function that waits in a lane. */
export interface LaneEntry {
  eventId: string;
  functionId: string;
}

/** Effect of an event. `parked`: a failed run stops the lane. */
export type LaneResult =
  | { outcome: 'starts' | 'waits' }
  | ({ outcome: 'parked'; number: number } & LaneEntry)
  | ({ outcome: 'superseded' } & LaneEntry);

/** An event that leaves its lane. `look`: check the run, which may have ended. */
export type LeavingEvent = LaneEntry & { id: string } & (
    | { kind: 'start' | 'look'; laneId: string; number: number }
    | { kind: 'free' }
    | { kind: 'superseded'; by: LaneEntry }
  );

/** `block` and `park`: the run has failed; `retry` and `skip`: a person decided. */
export type LaneAction = 'next' | 'block' | 'park' | 'retry' | 'skip';

export const LANE_STATES = ['waiting', 'running', 'blocked', 'parked'] as const;

export interface LaneStatus {
  id: string;
  key: string;
  state: (typeof LANE_STATES)[number];
  /** Unix milliseconds. */
  since: number;
  /** The event whose run is active, or has failed. */
  current?: LaneEntry & { number: number };
  waiting: number;
  /** The time at which the first of the waiting events arrived, Unix milliseconds. */
  firstAt?: number;
  /** The time at which a blocked lane runs its event again, Unix milliseconds. */
  repeatsAt?: number;
}

export interface LaneCursor {
  /** Number of the list: each partition has one or two. */
  list: number;
  /** Entries of the list before the page. */
  offset: number;
}

interface LanePage {
  isStopped: boolean;
  limit: number;
  cursor?: LaneCursor | undefined;
}

const SEPARATOR = '\x1f';
/** Prefix of the field that counts an order's stopped lanes; the field that counts its waiting events has no prefix. */
const STOPPED = SEPARATOR;
const STATES: Record<string, LaneStatus['state']> = { w: 'waiting', r: 'running', b: 'blocked', p: 'parked' };

const LANE: GroupKind<OrderOptions, LaneResult, LeavingEvent> = {
  name: 'lane',
  takenAtOnce: 100,
  keys: (homeKeys, env, order) => [
    homeKeys.lanes(env, order),
    homeKeys.laneTimes(env, order),
    homeKeys.laneChecks(env, order),
    homeKeys.leavingLanes(env, order),
    homeKeys.leavingLaneTimes(env, order),
    homeKeys.leavingLanes(env, order),
    homeKeys.laneTimerCheck(env, order),
  ],
  args: ({ windowMs, functions }, homeKeys, env, order) => {
    const taking = functions.map(({ id, onStale }) => [id.toWellFormed(), onStale === 'skip' ? 1 : 0]);
    const { laneEvents, laneReceipts, lastInLane, laneCounts, stoppedLanes } = homeKeys;
    // The keys are one JSON argument: apps choose names, which must not be read as keys.
    const keys = [
      order.toWellFormed(),
      laneEvents(env, ''),
      laneReceipts(env, ''),
      lastInLane(env, ''),
      laneCounts(env),
      stoppedLanes(env, order.toWellFormed()),
    ];
    return [windowMs, 0, JSON.stringify(Object.fromEntries(taking)), JSON.stringify(keys)];
  },
  toAdded(reply) {
    const [outcome, eventId, functionId, number] = reply as [LaneResult['outcome'], string, string, number];
    if (outcome === 'parked') return { outcome, eventId, functionId, number };
    return outcome === 'superseded' ? { outcome, eventId, functionId } : { outcome };
  },
  toClosed(id, text) {
    const [kind, ...rest] = text.split(SEPARATOR) as [string, string, string];
    const [eventId = '', , ...words] = id.replace(/^\?/, '').split(' ');
    const entry = { id, eventId, functionId: words.join(' ') };
    if (kind === 'f') return { ...entry, kind: 'free' };
    if (kind === 'x') return { ...entry, kind: 'superseded', by: { eventId: rest[0], functionId: rest[1] } };
    return { ...entry, kind: kind === 's' ? 'start' : 'look', laneId: rest[0], number: Number(rest[1]) };
  },
};

/** Digest that names a lane, in keys and in the API. */
export function laneIdOf(env: string, order: string, key: string): string {
  return hash('sha256', JSON.stringify([env, order, key]), 'base64url').slice(0, 22);
}

/** `values` of an event of a lane: the text of its order, and the value of the lane's key. */
export function laneValues(orderText: string | undefined, functionId: string, key: string): [string, string] {
  return [orderText ?? '', functionId + SEPARATOR + key];
}

export class Lanes extends EventGroups<OrderOptions, LaneResult, LeavingEvent> {
  constructor(redis: ScriptedRedis, keys: Keyspace, leaseMs?: number) {
    super(redis, keys, { kind: LANE, leaseMs });
  }

  /** @param turn the run that ended; for actions of people, its lane */
  async change(
    env: string,
    { id, order, number }: LaneTurn,
    options: OrderOptions,
    action: LaneAction,
    { eventId, functionId }: LaneEntry = { eventId: '', functionId: '' },
  ): Promise<{ changed: boolean; timerChecks: TimerCheck[] }> {
    const homeKeys = this.#homeOf(env, order, id);
    const given = this.argsOf(homeKeys, env, order, options);
    const reply = await this.redis.changeLane(...given, id, action, eventId, functionId, number ?? '*');
    const [changed, timerCheck] = reply as [number, TimerCheckReply];
    return { changed: changed === 1, timerChecks: this.timerChecksIn(homeKeys, env, order, timerCheck) };
  }

  /** Orders with waiting events in which these functions, or functions that these webhooks start, take part or took part before. */
  override async waiting(env: string, ids: readonly string[]): Promise<WaitingFunction[]> {
    const concerns = (order: string) => {
      const { functionId, webhookId = '' } = webhookOf(order) ?? { functionId: functionOf(order) };
      return isShared(order) || ids.includes(functionId) || ids.includes(webhookId);
    };
    const counts = await this.#counts(env);
    return counts.flatMap(({ order, isStopped, partition }) =>
      !isStopped && concerns(order) ? [{ functionId: order, partition }] : [],
    );
  }

  /** Orders with lanes that failed runs stop. */
  async stoppedOrders(env: string): Promise<string[]> {
    const stopped = (await this.#counts(env)).filter(({ isStopped }) => isStopped);
    return [...new Set(stopped.map(({ order }) => order))];
  }

  /** undefined: the lane is idle. */
  async read(env: string, order: string, windowMs: number, id: string): Promise<LaneStatus | undefined> {
    const homeKeys = this.#homeOf(env, order, id);
    const text = await this.redis.hget(homeKeys.lanes(env, order), id);
    return text === null ? undefined : (await this.#statuses(homeKeys, env, order, windowMs, [[id, text]]))[0];
  }

  /** Lanes of an order that are not idle: those whose next event is due first, then those with active runs; or those that a failed run
   *  stops, the longest stopped first.
   *  @param cursor cursor of the previous page; absent: the first page */
  async list(
    env: string,
    order: string,
    windowMs: number,
    { isStopped, limit, cursor = { list: 0, offset: 0 } }: LanePage,
  ): Promise<{ lanes: LaneStatus[]; next: LaneCursor | undefined }> {
    const lists = this.keys.all().flatMap((homeKeys) => {
      const { laneTimes, laneChecks, stoppedLanes } = homeKeys;
      return (isStopped ? [stoppedLanes] : [laneTimes, laneChecks]).map((key) => ({ homeKeys, key: key(env, order) }));
    });
    const { list, offset } = cursor;
    const from = lists[list];
    if (!from) return { lanes: [], next: undefined };
    const { homeKeys, key } = from;
    const ids = await this.redis.zrange(key, offset, String(offset + limit - 1));
    const texts = ids.length === 0 ? [] : await this.redis.hmget(homeKeys.lanes(env, order), ...ids);
    const found = ids.flatMap((id, i) => (texts[i] ? [[id, texts[i]] as [string, string]] : []));
    const lanes = await this.#statuses(homeKeys, env, order, windowMs, found);
    if (ids.length === limit) return { lanes, next: { list, offset: offset + limit } };
    return { lanes, next: list + 1 < lists.length ? { list: list + 1, offset: 0 } : undefined };
  }

  /** The first events that wait, in their order. */
  async waitingIn(env: string, order: string, id: string, most: number): Promise<LaneEntry[]> {
    const key = this.#homeOf(env, order, id).laneEvents(env, id);
    const found = await this.redis.zrange(key, 0, String(most - 1));
    return found.map((member) => {
      const [, mark = '', ...words] = member.split(' ');
      return { eventId: mark.slice(0, -1), functionId: words.join(' ') };
    });
  }

  /** Events that wait, and lanes that failed runs stop. */
  async count(env: string): Promise<{ waiting: number; stopped: number }> {
    const counts = await this.#counts(env);
    return {
      waiting: sum(counts, ({ isStopped, count }) => (isStopped ? 0 : count)),
      stopped: sum(counts, ({ isStopped, count }) => (isStopped ? count : 0)),
    };
  }

  /** Numbers of waiting events, or of stopped lanes, of each order and partition. */
  async #counts(env: string): Promise<{ order: string; isStopped: boolean; partition: number; count: number }[]> {
    const all = this.keys.all();
    const commands = all.map(({ laneCounts }) => ['hgetall', laneCounts(env)]);
    const found = await inPipelines<Record<string, string>>(this.redis, commands);
    return all.flatMap(({ number: partition }, i) =>
      Object.entries(found[i] ?? {}).map(([field, count]) => {
        const isStopped = field.startsWith(STOPPED);
        return { order: isStopped ? field.slice(STOPPED.length) : field, isStopped, partition, count: Number(count) };
      }),
    );
  }

  async #statuses(
    homeKeys: PartitionKeyspace,
    env: string,
    order: string,
    windowMs: number,
    found: readonly [id: string, text: string][],
  ): Promise<LaneStatus[]> {
    const commands = found.flatMap(([id]) => [
      ['zcard', homeKeys.laneEvents(env, id)],
      ['zrange', homeKeys.laneReceipts(env, id), 0, 0, 'WITHSCORES'],
      ['zscore', homeKeys.laneTimes(env, order), id],
    ]);
    const parts = await inPipelines<unknown>(this.redis, commands);
    return found.map(([id, text], i) => {
      const [waiting, [, firstAt] = [], at] = parts.slice(3 * i, 3 * i + 3) as [number, string[], string | null];
      const [state = '', since, number, eventId = '', functionId = '', ...key] = text.split(SEPARATOR);
      return {
        id,
        key: key.join(SEPARATOR),
        state: STATES[state] ?? 'waiting',
        since: Number(since),
        waiting,
        ...(eventId !== '' && { current: { eventId, functionId, number: Number(number) } }),
        ...(firstAt !== undefined && { firstAt: Number(firstAt) }),
        ...(state === 'b' && at !== null && { repeatsAt: Number(at) + windowMs }),
      };
    });
  }

  #homeOf(env: string, order: string, id: string): PartitionKeyspace {
    return this.keys.homeOf(`${env}/${order}/${id}`);
  }
}

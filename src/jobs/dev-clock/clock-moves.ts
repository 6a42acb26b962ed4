/** Moves the clock of dev mode. Time does not jump: it goes from one moment at which something is due to the next, and everything that is
 *  due is done before it continues. So ticks, retries and the ends of sleeps happen in their order, as if the time had passed. */
import { setTimeout } from 'node:timers/promises';
import { ServiceError } from '../../errors.ts';
import type { Clock } from '../../model/values/clock.ts';
import { Composed } from '../../model/values/composed.ts';
import { sum } from '../../model/values/sum.ts';
import { delayedUntil, QUEUE_KEYS } from '../../store/keys/bullmq.ts';
import { inPipelines } from '../../store/redis/connection/connection.ts';
import type { Redis } from '../../store/redis/connection/servers.ts';
import type { Keyspace } from '../../store/redis/keyspace/keyspace.ts';
import type { Store } from '../../store/store.ts';
import type { PartitionQueues } from '../queues/partition-queues.ts';
import type { FollowedClock } from './followed-clock.ts';
import { shortenTtls } from './time-to-live.ts';

/** Bounds of a request: how far the clock goes, at how many moments it stops, and how long this takes. Clients wait a minute for a
 *  response. */
export const DAYS_MAX = 400;
const MOMENTS_MAX = 10_000;
const REQUEST_MS = 25_000;
/** How long it waits for the work of one moment: a call may hang. */
const BUSY_MS = 25_000;
/** Interval at which the queues are read. */
const POLL_MS = 2;
const LOCK_MS = 10_000;

/** Why the clock stopped. `target`: it is where it was sent; `limit`: it came to a bound of the request; `busy`: the work of a moment did
 *  not end. */
export const REACHED = ['target', 'limit', 'busy'] as const;

export interface Moved {
  /** Unix milliseconds. */
  nowMs: number;
  targetMs: number;
  reached: (typeof REACHED)[number];
  runsStarted: number;
  runsEnded: number;
  /** Active runs: they sleep or wait. */
  waiting: number;
}

/** Counts of a queue. */
interface QueueState {
  isBusy: boolean;
  /** When its first delayed job is due, Unix milliseconds. */
  dueAt: number;
  /** The marker of the queue, which wakes a worker. */
  marker: string;
}

export class ClockMoves extends Composed<
  Pick<Store, 'locks' | 'activeRuns' | 'offloadedRuns' | 'offloadedRunAlarms' | 'environments'> & {
    redis: Redis;
    keys: Keyspace;
    queues: PartitionQueues;
    devClock: FollowedClock;
    clock: Clock;
  }
> {
  /** @throws ServiceError clock_moving */
  async moveTo(targetMs: number): Promise<Moved> {
    let moved: Moved | undefined;
    await this.deps.locks.withLock('dev-clock', LOCK_MS, async (lost) => {
      moved = await this.#move(targetMs, lost);
    });
    if (!moved) throw new ServiceError('clock_moving', { detail: 'one request at a time moves it' });
    return moved;
  }

  /** Milliseconds by which the clock is ahead of the machine. */
  get offsetMs(): number {
    return this.deps.devClock.offsetMs;
  }

  async #move(targetMs: number, lost: AbortSignal): Promise<Moved> {
    const { devClock, activeRuns, clock } = this.deps;
    const before = await devClock.broadcast({});
    const reached = await this.#goThroughMoments(targetMs, lost);
    const after = await devClock.broadcast({});
    return {
      nowMs: clock(),
      targetMs,
      reached,
      runsStarted: Math.max(0, after.started - before.started),
      runsEnded: Math.max(0, after.ended - before.ended),
      waiting: (await activeRuns.count()) + (await this.#offloaded()),
    };
  }

  async #goThroughMoments(targetMs: number, lost: AbortSignal): Promise<Moved['reached']> {
    const { clock } = this.deps;
    const giveUpAt = performance.now() + REQUEST_MS;
    for (let moments = 0; ; moments++) {
      const firstDueMs = await this.#whenIdle();
      if (firstDueMs === undefined) return 'busy';
      const nowMs = clock();
      if (nowMs >= targetMs) return 'target';
      if (moments >= MOMENTS_MAX || performance.now() >= giveUpAt || lost.aborted) return 'limit';
      const next = await this.#withAlarms(Math.min(targetMs, firstDueMs));
      if (next === undefined) return 'busy';
      if (next > nowMs) await this.#jump(next - nowMs);
    }
  }

  /** Waits until everything that is due is done.
   *  @returns when the next thing is due, Unix milliseconds; undefined: it has waited for too long */
  async #whenIdle(): Promise<number | undefined> {
    const giveUpAt = performance.now() + BUSY_MS;
    // Some jobs are added right after the end of another one.
    let idleLooks = 0;
    while (performance.now() < giveUpAt) {
      const queues = await this.#queueStates();
      const nowMs = this.deps.clock();
      const overdue = queues.filter(({ dueAt }) => dueAt <= nowMs);
      // A worker that waits for its next delayed job computed the waiting time before the clock was moved.
      await inPipelines(
        this.deps.redis,
        overdue.map(({ marker }) => ['zadd', marker, 0, '0']),
      );
      idleLooks = overdue.length > 0 || queues.some(({ isBusy }) => isBusy) ? 0 : idleLooks + 1;
      if (idleLooks === 2) return Math.min(...queues.map(({ dueAt }) => dueAt));
      await setTimeout(POLL_MS);
    }
    return undefined;
  }

  /** Gives jobs to the wake-ups of runs that sleep for long, which have alarms until they are due soon.
   *  @returns the time, or that of an earlier wake-up; undefined: runs that are due by then wait for Postgres */
  async #withAlarms(dueMs: number): Promise<number | undefined> {
    const { devClock, activeRuns, offloadedRunAlarms } = this.deps;
    const alarms = () => activeRuns.count(dueMs + 1);
    const offloaded = await this.#offloaded();
    // Offloaded runs that are due come back, and then have alarms in Redis.
    if (offloaded > 0) {
      await devClock.broadcast({ alarmsUntilMs: dueMs });
      if ((await offloadedRunAlarms.seen()).overdueSince !== undefined) return undefined;
    }
    let left = await alarms();
    if (left + offloaded === 0) return dueMs;
    // A round handles some alarms; the others ring again later.
    for (let before = Number.POSITIVE_INFINITY; left > 0 && left < before; left = await alarms()) {
      before = left;
      await devClock.broadcast({ alarmsUntilMs: dueMs });
    }
    const queues = await this.#queueStates();
    return Math.min(dueMs, ...queues.map(({ dueAt }) => dueAt));
  }

  async #offloaded(): Promise<number> {
    const { offloadedRuns, environments } = this.deps;
    if (!offloadedRuns.mayExist) return 0;
    const all = await environments.all();
    return sum(await Promise.all(all.map(({ name }) => offloadedRuns.countIn(name))));
  }

  async #jump(byMs: number): Promise<void> {
    const { redis, keys, devClock } = this.deps;
    await shortenTtls(redis, keys, byMs);
    await devClock.set(Math.ceil(this.offsetMs + byMs));
  }

  async #queueStates(): Promise<QueueState[]> {
    const { redis, queues } = this.deps;
    const all = queues.all().flatMap(({ ingest, runs, timers }) => [ingest, runs, timers]);
    const lists = [
      ['llen', QUEUE_KEYS.waiting],
      ['llen', QUEUE_KEYS.active],
      ['zcard', QUEUE_KEYS.prioritized],
    ] as const;
    const commands = all.flatMap((queue) => [
      ...lists.map(([command, key]) => [command, queue.toKey(key)]),
      ['zrange', queue.toKey(QUEUE_KEYS.delayed), 0, 0, 'WITHSCORES'],
    ]);
    const replies = await inPipelines<number | string[]>(redis, commands);
    return all.map((queue, i) => {
      const own = replies.slice(i * (lists.length + 1), (i + 1) * (lists.length + 1));
      const [, score] = own.at(-1) as string[];
      return {
        isBusy: own.slice(0, -1).some((length) => Number(length) > 0),
        dueAt: score === undefined ? Number.POSITIVE_INFINITY : delayedUntil(score),
        marker: queue.toKey(QUEUE_KEYS.marker),
      };
    });
  }
}

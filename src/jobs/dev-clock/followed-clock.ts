/** The clock of a process in dev mode. It applies the offset stored in Redis. The process that moves the clock
 *  (clock-moves.ts) announces each step by pub/sub, and every process replies when it has applied it. */
import { setTimeout as wait } from 'node:timers/promises';
import { newId } from '../../model/ids.ts';
import { unavailable } from '../../store/redis/connection/connection.ts';
import { publish, type Subscriber } from '../../store/redis/connection/pub-sub.ts';
import type { Store } from '../../store/store.ts';
import { shiftProcessTime } from './process-time.ts';
import type { RunCounts } from './run-counts.ts';

/** A process that does not reply within this time is stuck, or has ended. */
const REPLY_TIMEOUT_MS = 10_000;
const RETRY_MS = 500;

/** A message to a process; without fields the process only replies. */
export interface ClockMessage {
  /** The new time: milliseconds ahead of the machine. */
  offsetMs?: number;
  /** Give jobs to all wake-ups that are due soon after this time, Unix milliseconds. */
  alarmsUntilMs?: number;
}

type Message = ({ id: string } & ClockMessage) | ({ to: string } & RunCounts);

export interface FollowedClockDeps extends Pick<Store, 'redis' | 'keys'> {
  subscriber: Subscriber;
  runCounts: RunCounts;
}

export class FollowedClock {
  readonly #deps: FollowedClockDeps;
  readonly #replies = new Map<string, (counts: RunCounts) => void>();
  #horizonMs: number | undefined;
  #latestHorizonMs = 0;
  #offsetMs = 0;
  #isClosed = false;
  #ringAlarms: () => Promise<unknown> = async () => undefined;

  constructor(deps: FollowedClockDeps) {
    this.#deps = deps;
    const { subscriber, keys } = deps;
    subscriber.on('message', (channel, text) => {
      if (channel === keys.devClockMessages) void this.#receive(JSON.parse(text)).catch(() => undefined);
    });
  }

  /** @param runCounts undefined in production
   *  @returns undefined where the clock cannot be moved: in production, and on a cluster, whose scripts cannot read the offset */
  static of({
    runCounts,
    ...deps
  }: Omit<FollowedClockDeps, 'runCounts'> & { runCounts: RunCounts | undefined }): FollowedClock | undefined {
    return runCounts && !deps.redis.isCluster ? new FollowedClock({ ...deps, runCounts }) : undefined;
  }

  /** Milliseconds by which this process is ahead of the machine. */
  get offsetMs(): number {
    return this.#offsetMs;
  }

  /** Set during a move: wake-ups due by this time get their jobs now, Unix milliseconds. */
  get horizonMs(): number | undefined {
    return this.#horizonMs;
  }

  /** The latest horizon so far: the clock is on its way there, Unix milliseconds. */
  get latestHorizonMs(): number {
    return this.#latestHorizonMs;
  }

  /** Resolves when the process has the time of the others, and misses no change of it. */
  async follow(): Promise<void> {
    const { keys, subscriber } = this.#deps;
    // After a reconnection, messages may have been missed.
    subscriber.on('ready', () => void this.#read());
    await subscriber.subscribe(keys.devClockMessages);
    await this.#read();
  }

  /** Waits for Redis, if need be. */
  async #read(): Promise<void> {
    const { redis, keys } = this.#deps;
    while (!this.#isClosed) {
      const offsetMs = await redis.get(keys.devClock).catch(() => undefined);
      if (offsetMs !== undefined) return offsetMs === null ? undefined : this.#shift(Number(offsetMs));
      await wait(RETRY_MS, undefined, { ref: false });
    }
  }

  /** @param ringAlarms gives jobs to the wake-ups that are due by the horizon */
  onAlarms(ringAlarms: () => Promise<unknown>): void {
    this.#ringAlarms = ringAlarms;
  }

  /** Resolves when all processes have the new time. A process that starts meanwhile reads it. */
  async set(offsetMs: number): Promise<void> {
    const { redis, keys } = this.#deps;
    await redis.set(keys.devClock, offsetMs);
    await this.broadcast({ offsetMs });
  }

  /** Sends a message to all processes, including this one. Resolves when all have replied.
   *  @returns the runs that they have started and ended so far
   *  @throws ServiceError unavailable if one does not reply */
  async broadcast(message: ClockMessage): Promise<RunCounts> {
    const { redis, keys } = this.#deps;
    const id = newId();
    const sum: RunCounts = { started: 0, ended: 0 };
    const all = Promise.withResolvers<void>();
    // It may reject before Redis has taken the message, when nothing waits for it yet.
    all.promise.catch(() => undefined);
    let replied = 0;
    let receivers = Number.POSITIVE_INFINITY;
    this.#replies.set(id, ({ started, ended }) => {
      sum.started += started;
      sum.ended += ended;
      if (++replied >= receivers) all.resolve();
    });
    const late = setTimeout(() => all.reject(unavailable('a process did not answer in time')), REPLY_TIMEOUT_MS);
    try {
      receivers = await publish(redis, keys.devClockMessages, JSON.stringify({ id, ...message } satisfies Message));
      if (replied < receivers) await all.promise;
      return sum;
    } finally {
      clearTimeout(late);
      this.#replies.delete(id);
    }
  }

  /** The process has the time of the machine again. */
  close(): void {
    this.#isClosed = true;
    this.#shift(0);
  }

  #shift(offsetMs: number): void {
    this.#offsetMs = offsetMs;
    shiftProcessTime(offsetMs);
  }

  async #receive(message: Message): Promise<void> {
    if ('to' in message) return this.#replies.get(message.to)?.(message);
    const { id, offsetMs, alarmsUntilMs } = message;
    if (offsetMs !== undefined) this.#shift(offsetMs);
    if (alarmsUntilMs !== undefined) await this.#ring(alarmsUntilMs);
    const { redis, keys, runCounts } = this.#deps;
    await publish(redis, keys.devClockMessages, JSON.stringify({ to: id, ...runCounts } satisfies Message));
  }

  async #ring(untilMs: number): Promise<void> {
    this.#horizonMs = untilMs;
    this.#latestHorizonMs = Math.max(this.#latestHorizonMs, untilMs);
    try {
      await this.#ringAlarms();
    } finally {
      this.#horizonMs = undefined;
    }
  }
}

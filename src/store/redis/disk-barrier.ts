/** Waits until all that Redis has written before is on its disk (WAITAOF, Redis 7.2).
 *
 *  WAITAOF stands still for the last write of its own connection, and blocks that connection. So it has one to itself, and writes a
 *  mark there first: Redis's file is one sequence, in which the mark comes after everything that was answered before. Commits are
 *  not held up by one another's wait; all that come while one barrier is on its way share the next. */
import { ServiceError } from '../../errors.ts';
import { type Redis, replies, translateAway, unavailable } from './connection.ts';
import { factOf } from './server-info.ts';

/** With appendfsync everysec a sync begins within a second; the rest is for a disk that is busy. Less than the connection waits. */
const SYNC_TIMEOUT_MS = 4_000;
const MARK_LIFE_MS = 60_000;

export class DiskBarrier {
  readonly #connect: () => Redis;
  readonly #markKey: string;
  #redis: Redis | undefined;
  #current: Promise<unknown> = Promise.resolve();
  #next: Promise<string> | undefined;

  /** @param connect makes the connection, when it is needed for the first time */
  constructor(connect: () => Redis, markKey: string) {
    this.#connect = connect;
    this.#markKey = markKey;
  }

  /** Resolves when all is on the disk that was answered before.
   *  @param runId of the server that answered; another one's disk is none of ours
   *  @throws ServiceError unavailable: then it may be there, and may not */
  async wait(runId: string): Promise<void> {
    this.#next ??= this.#after(this.#current);
    if ((await this.#next) !== runId) throw unavailable('Redis was replaced before all was on its disk');
  }

  close(): void {
    this.#redis?.disconnect();
  }

  async #after(current: Promise<unknown>): Promise<string> {
    await current.catch(() => {});
    // From here on, whoever comes may have written later than the mark.
    this.#current = this.#next as Promise<string>;
    this.#next = undefined;
    return this.#ask();
  }

  /** @returns the run ID of the server whose disk it is */
  async #ask(): Promise<string> {
    this.#redis ??= this.#connect();
    const pipeline = this.#redis.pipeline().info('server').set(this.#markKey, '', 'PX', MARK_LIFE_MS);
    const results = await pipeline.call('WAITAOF', 1, 0, SYNC_TIMEOUT_MS).exec();
    try {
      const [info, , synced] = replies<unknown>(results);
      if (!((synced as [local: number])[0] >= 1)) {
        throw unavailable(`Redis did not sync its file within ${SYNC_TIMEOUT_MS} ms`);
      }
      return factOf(info as string, 'run_id');
    } catch (error) {
      // Whatever it says, it has not promised.
      const told = translateAway(error);
      throw told instanceof ServiceError ? told : unavailable('Redis did not sync its file', error);
    }
  }
}

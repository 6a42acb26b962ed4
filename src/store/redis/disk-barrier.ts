/** Waits until all earlier writes are on Redis's disk (WAITAOF, Redis 7.2).
 *
 *  WAITAOF waits for the last write of its own connection, and blocks that connection. So it has its own connection, and writes a marker there
 *  first: the append-only file is one sequence, in which the marker follows every write that was answered before. Writes that arrive while one
 *  barrier is in flight share the next. */
import { ServiceError } from '../../errors.ts';
import { type Redis, replies, translateAway, unavailable } from './connection.ts';
import { infoField } from './server-info.ts';

/** With appendfsync everysec a sync starts within a second; the rest is for a busy disk. Less than the command timeout of the connection. */
const SYNC_TIMEOUT_MS = 4_000;
const MARKER_TTL_MS = 60_000;

export class DiskBarrier {
  readonly #connect: () => Redis;
  readonly #markerKey: string;
  #redis: Redis | undefined;
  #current: Promise<unknown> = Promise.resolve();
  #next: Promise<string> | undefined;

  /** @param connect opens the connection when it is first needed */
  constructor(connect: () => Redis, markerKey: string) {
    this.#connect = connect;
    this.#markerKey = markerKey;
  }

  /** Resolves when all writes that were answered before are on the disk.
   *  @param runId of the server that answered the writes
   *  @throws ServiceError unavailable: the writes may be on the disk or not */
  async wait(runId: string): Promise<void> {
    this.#next ??= this.#after(this.#current);
    if ((await this.#next) !== runId) throw unavailable('Redis was replaced before all was on its disk');
  }

  close(): void {
    this.#redis?.disconnect();
  }

  async #after(current: Promise<unknown>): Promise<string> {
    await current.catch(() => {});
    // From here on, a caller's writes may be later than the marker.
    this.#current = this.#next as Promise<string>;
    this.#next = undefined;
    return this.#sync();
  }

  /** @returns the run ID of the server that synced */
  async #sync(): Promise<string> {
    this.#redis ??= this.#connect();
    const pipeline = this.#redis.pipeline().info('server').set(this.#markerKey, '', 'PX', MARKER_TTL_MS);
    const results = await pipeline.call('WAITAOF', 1, 0, SYNC_TIMEOUT_MS).exec();
    try {
      const [info, , synced] = replies<unknown>(results);
      if (!((synced as [local: number])[0] >= 1)) {
        throw unavailable(`Redis did not sync its file within ${SYNC_TIMEOUT_MS} ms`);
      }
      return infoField(info as string, 'run_id');
    } catch (error) {
      // Any failure means that nothing is promised.
      const translated = translateAway(error);
      throw translated instanceof ServiceError ? translated : unavailable('Redis did not sync its file', error);
    }
  }
}

/** Whether a web process can accept an event now. */
import type { PartitionQueues } from '../../jobs/queues/partition-queues.ts';
import { inTime } from '../../model/values/in-time.ts';
import type { Redis } from '../../store/redis/connection/connection.ts';

/** The time for which a request to `/e/` waits for Redis. */
const TIMEOUT_MS = 2_000;

export interface ReadinessDeps {
  redis: Pick<Redis, 'ping' | 'isCluster'>;
  queues: PartitionQueues;
  /** Resolves when the replicated caches have been read for the first time. */
  firstReads: Promise<unknown>;
}

export class Readiness {
  readonly #deps: ReadinessDeps;
  #hasRead = false;
  #isShuttingDown = false;

  constructor(deps: ReadinessDeps) {
    this.#deps = deps;
    deps.firstReads.then(
      () => {
        this.#hasRead = true;
      },
      // The reads are rejected if the process ends.
      () => undefined,
    );
  }

  /** Tells load balancers to send no more requests. */
  shutDown(): void {
    this.#isShuttingDown = true;
  }

  /** Whether load balancers may send requests. */
  async ready(): Promise<boolean> {
    return !this.#isShuttingDown && (await this.healthy());
  }

  /** Whether Redis and a queue respond: a queue that failed to initialize rejects jobs although its connection works. One responding
   *  partition is enough. */
  async healthy(): Promise<boolean> {
    const { redis, queues } = this.#deps;
    if (!this.#hasRead) return false;
    // In a cluster, PING would ask a random node.
    if (!redis.isCluster && !(await respondsInTime(redis.ping()))) return false;
    const responding = queues.all().map(({ ingest }) => respondsInTime(ingest.isPaused()));
    return isAnyTrue(responding);
  }
}

/** Resolves as soon as one check is true. */
async function isAnyTrue(checks: readonly Promise<boolean>[]): Promise<boolean> {
  const positive = checks.map(async (check) => {
    if (!(await check)) throw new Error('no');
  });
  return Promise.any(positive).then(
    () => true,
    () => false,
  );
}

function respondsInTime(response: Promise<unknown>): Promise<boolean> {
  return inTime(response, TIMEOUT_MS, () => new Error('no response')).then(
    () => true,
    () => false,
  );
}

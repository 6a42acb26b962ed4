/** Whether a web process could do, at this moment, what it is there for: take an event. */
import type { IngestQueue } from '../../jobs/queues/queues.ts';
import type { Redis } from '../../store/redis/connection.ts';

/** As long as a sender waits for Redis. */
const ANSWER_MS = 2_000;

export interface ReadinessDeps {
  redis: Pick<Redis, 'ping'>;
  queue: Pick<IngestQueue, 'isPaused'>;
  /** Resolves when what is held in memory has been read for the first time. */
  firstReads: Promise<unknown>;
}

export class Readiness {
  readonly #deps: ReadinessDeps;
  #hasRead = false;
  #ending = false;

  constructor(deps: ReadinessDeps) {
    this.#deps = deps;
    void deps.firstReads.then(() => {
      this.#hasRead = true;
    });
  }

  /** From now on no more requests should be sent here. */
  end(): void {
    this.#ending = true;
  }

  /** Whether new requests may be sent here. */
  async ready(): Promise<boolean> {
    return !this.#ending && (await this.healthy());
  }

  /** Whether Redis and the queue answer: a queue that could not begin refuses jobs while the connection that it uses is fine. */
  async healthy(): Promise<boolean> {
    const { redis, queue } = this.#deps;
    return this.#hasRead && (await inTime(redis.ping())) && (await inTime(queue.isPaused()));
  }
}

async function inTime(asked: Promise<unknown>): Promise<boolean> {
  const late = Promise.withResolvers<false>();
  const timer = setTimeout(() => late.resolve(false), ANSWER_MS);
  const answered = asked.then(
    () => true,
    () => false,
  );
  try {
    return await Promise.race([answered, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

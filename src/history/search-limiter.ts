/** Bounds the searches of one process: each takes time of its main thread, and a connection to Postgres. */
import { ServiceError } from '../errors.ts';

const OF_ENVIRONMENT = 2;
const OF_ALL = 6;
const RETRY_AFTER_SECONDS = 1;

export class SearchLimiter {
  readonly #running = new Map<string, number>();
  #all = 0;

  /** @throws ServiceError searches_full */
  async run<T>(env: string, search: () => Promise<T>): Promise<T> {
    const ofEnvironment = this.#running.get(env) ?? 0;
    if (ofEnvironment >= OF_ENVIRONMENT || this.#all >= OF_ALL) {
      throw new ServiceError('searches_full', {
        detail: `${ofEnvironment >= OF_ENVIRONMENT ? 'this environment has' : 'the process has'} as many as it may; retry after ${RETRY_AFTER_SECONDS} s`,
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    }
    this.#change(env, 1);
    try {
      return await search();
    } finally {
      this.#change(env, -1);
    }
  }

  #change(env: string, by: 1 | -1): void {
    this.#all += by;
    const count = (this.#running.get(env) ?? 0) + by;
    if (count === 0) this.#running.delete(env);
    else this.#running.set(env, count);
  }
}

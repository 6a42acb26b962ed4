/** Publishing limits per environment in this process: messages per second, and concurrent streams. */
import { ServiceError } from '../../errors.ts';
import { ConcurrencyLimits } from '../../model/capacity/concurrency-limits.ts';
import { TokenBucket } from '../../model/capacity/token-bucket.ts';

/** Each started unit of this size counts as one message. */
const UNIT_BYTES = 16_384;
const STREAMS_MAX = 100;
const SWEEP_ABOVE = 1_000;
const RETRY_AFTER_SECONDS = 5;

export class PublishLimits {
  readonly #perSecond: number;
  readonly #buckets = new Map<string, TokenBucket>();
  readonly #streams = new ConcurrencyLimits();

  constructor(perSecond: number) {
    this.#perSecond = perSecond;
  }

  /** @throws ServiceError rate_exceeded */
  admit(env: string, bytes: number, messages: number): void {
    const waitMs = this.#take(env, bytes, messages);
    if (waitMs === 0) return;
    throw new ServiceError('rate_exceeded', {
      detail: `the environment may publish ${this.#perSecond} realtime messages per second at each process (REALTIME_MESSAGES_PER_SECOND)`,
      retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1_000)),
    });
  }

  /** Limits streams, which can be read more slowly.
   *  @returns milliseconds until the next try; 0: now */
  waitMs(env: string, bytes: number): number {
    return this.#take(env, bytes, 1);
  }

  /** @returns a function to call when the stream has ended
   *  @throws ServiceError overloaded */
  openStream(env: string): () => void {
    const counted = this.#streams.begin([{ name: env, max: STREAMS_MAX }]);
    if ('end' in counted) return counted.end;
    throw new ServiceError('overloaded', {
      detail: `the environment publishes ${STREAMS_MAX} streams at this process`,
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  }

  #take(env: string, bytes: number, messages: number): number {
    const now = performance.now();
    if (this.#buckets.size > SWEEP_ABOVE) {
      for (const [name, bucket] of this.#buckets) if (bucket.isFull(now)) this.#buckets.delete(name);
    }
    const bucket = this.#buckets.get(env) ?? new TokenBucket(this.#perSecond, now);
    this.#buckets.set(env, bucket);
    return bucket.take(messages * Math.max(1, Math.ceil(bytes / UNIT_BYTES)), now);
  }
}

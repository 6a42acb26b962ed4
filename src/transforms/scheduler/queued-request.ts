import { ServiceError } from '../../errors.ts';
import type { Arguments } from '../protocol.ts';
import type { Transform, TransformOutcome } from '../transform.ts';

/** A request that waits for its outcome. Settles exactly once: with its outcome, or as `overloaded` after its timeout. Later
 *  results are ignored. */
export class QueuedRequest {
  readonly transform: Transform;
  /** Webhook and version: edited code starts without strikes. */
  readonly key: string;
  /** null: only check the code. */
  readonly args: Arguments | null;
  readonly outcome: Promise<TransformOutcome>;
  /** Whether the request was in flight when its child exited: its retry runs alone. */
  retriesAlone = false;
  /** How often a child exited by itself while it ran only this request. */
  crashes = 0;
  settled = false;

  readonly #resolve: (outcome: TransformOutcome) => void;
  readonly #reject: (error: ServiceError) => void;
  readonly #timeout: NodeJS.Timeout;

  constructor(transform: Transform, args: Arguments | null, timeoutMs: number) {
    const { promise, resolve, reject } = Promise.withResolvers<TransformOutcome>();
    this.transform = transform;
    this.key = `${transform.id}\n${transform.version}`;
    this.args = args;
    this.outcome = promise;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#timeout = setTimeout(() => this.settle(late(timeoutMs)), timeoutMs);
  }

  settle(result: TransformOutcome | ServiceError) {
    this.settled = true;
    clearTimeout(this.#timeout);
    if (result instanceof ServiceError) this.#reject(result);
    else this.#resolve(result);
  }
}

export function overloaded() {
  return retryLater('too many transforms are queued; send the request again', 1);
}

/** Other transforms, or the start of the process that runs them, took all the time. */
function late(timeoutMs: number) {
  return retryLater(`the transform had no result within ${timeoutMs / 1_000} s; send the request again`, 1);
}

export function shuttingDown() {
  return retryLater('the process shuts down; send the request again', 1);
}

/** Something outside killed the process more than once while it ran this request: no transform is to blame. */
export function killedFromOutside() {
  return retryLater('the process that runs transforms was killed; send the request again', 1);
}

export function notStarting(retryAfterSeconds: number) {
  return retryLater('the process that runs transforms does not start; send the request again', retryAfterSeconds);
}

function retryLater(detail: string, retryAfterSeconds: number) {
  return new ServiceError('overloaded', { detail, retryAfterSeconds });
}

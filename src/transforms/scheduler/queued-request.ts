import { ServiceError } from '../../errors.ts';
import type { Transform, TransformOutcome } from '../transform.ts';

/** One request on its way to an answer. It is settled once, whatever happens: by its outcome, or as `overloaded` when
 *  its patience is over. What comes later changes nothing. */
export class QueuedRequest {
  readonly transform: Transform;
  /** Webhook and version: edited code starts with a clean record. */
  readonly key: string;
  /** JSON of the four arguments; null: only check the code. */
  readonly args: string | null;
  readonly answer: Promise<TransformOutcome>;
  /** Was in flight when its child died, so it has one more try, alone. */
  caught = false;
  /** How often a child that had nothing else to do has ended itself over it. */
  crashes = 0;
  settled = false;

  readonly #resolve: (outcome: TransformOutcome) => void;
  readonly #reject: (error: ServiceError) => void;
  readonly #patience: NodeJS.Timeout;

  constructor(transform: Transform, args: string | null, patienceMs: number) {
    const { promise, resolve, reject } = Promise.withResolvers<TransformOutcome>();
    this.transform = transform;
    this.key = `${transform.id}\n${transform.version}`;
    this.args = args;
    this.answer = promise;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#patience = setTimeout(() => this.settle(overloaded()), patienceMs);
  }

  settle(result: TransformOutcome | ServiceError) {
    this.settled = true;
    clearTimeout(this.#patience);
    if (result instanceof ServiceError) this.#reject(result);
    else this.#resolve(result);
  }
}

export function overloaded() {
  return busy('too many transforms wait for their turn; send the request again', 1);
}

/** The process was killed from outside, more than once: nobody's fault. */
export function interrupted() {
  return busy('the process that runs transforms was killed; send the request again', 1);
}

export function notStarting(retryAfterSeconds: number) {
  return busy('the process that runs transforms does not start; send the request again', retryAfterSeconds);
}

function busy(detail: string, retryAfterSeconds: number) {
  return new ServiceError('overloaded', { detail, retryAfterSeconds });
}

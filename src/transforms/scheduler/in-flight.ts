import type { QueuedRequest } from './queued-request.ts';

/** Requests of one webhook that a thread serves one after the other. */
export interface Batch {
  readonly requests: readonly QueuedRequest[];
  /** Expected to take long. */
  readonly slow: boolean;
}

/** The work that a child process holds. */
export interface Load {
  readonly requests: number;
  readonly batches: number;
  /** Batches that are expected to take long. */
  readonly slowBatches: number;
  /** The time at which the newest of these batches was sent, by `QueuedRequest.key`. */
  readonly sentAt: ReadonlyMap<string, number>;
}

export interface Drained {
  /** Requests of the batches that threads were running. */
  started: QueuedRequest[];
  /** Requests that waited inside the child. */
  pending: QueuedRequest[];
}

interface InFlightBatch {
  batch: Batch;
  sentAt: number;
  /** undefined: still waits inside the child for a free thread. */
  startedAt: number | undefined;
}

/** The batches that a child has received and not returned. It starts them in the order in which they were sent, one per
 *  thread. The oldest batches are therefore running, and the parent knows their start times without a message. */
export class InFlightRequests {
  readonly #threads: number;
  readonly #batches = new Map<number, InFlightBatch>();
  #lastNumber = 0;
  #load = emptyLoad();

  constructor(threads: number) {
    this.#threads = threads;
  }

  get load(): Load {
    return this.#load;
  }

  get requests(): QueuedRequest[] {
    return [...this.#batches.values()].flatMap(({ batch }) => batch.requests);
  }

  /** Returns the number that the child's reply carries. */
  add(batch: Batch, now: number): number {
    this.#lastNumber += 1;
    this.#batches.set(this.#lastNumber, { batch, sentAt: now, startedAt: undefined });
    this.#count(batch, 1);
    this.#load.sentAt.set(keyOf(batch), now);
    this.#markStarted(now);
    return this.#lastNumber;
  }

  remove(number: number, now: number): Batch | undefined {
    const entry = this.#batches.get(number);
    if (entry === undefined) return undefined;
    this.#batches.delete(number);
    this.#count(entry.batch, -1);
    if (this.#load.sentAt.get(keyOf(entry.batch)) === entry.sentAt) this.#load.sentAt.delete(keyOf(entry.batch));
    this.#markStarted(now);
    return entry.batch;
  }

  anyStartedBefore(time: number): boolean {
    return this.#batches.values().some(({ startedAt }) => startedAt !== undefined && startedAt < time);
  }

  drain(): Drained {
    const batches = [...this.#batches.values()].map(({ batch }) => batch.requests);
    this.#batches.clear();
    this.#load = emptyLoad();
    return { started: batches.slice(0, this.#threads).flat(), pending: batches.slice(this.#threads).flat() };
  }

  #count({ requests, slow }: Batch, sign: 1 | -1) {
    this.#load.requests += sign * requests.length;
    this.#load.batches += sign;
    if (slow) this.#load.slowBatches += sign;
  }

  #markStarted(now: number) {
    let threads = this.#threads;
    for (const entry of this.#batches.values()) {
      entry.startedAt ??= now;
      threads -= 1;
      if (threads === 0) return;
    }
  }
}

function emptyLoad() {
  return { requests: 0, batches: 0, slowBatches: 0, sentAt: new Map<string, number>() };
}

/** A batch has only requests of one webhook. */
function keyOf({ requests }: Batch): string {
  return (requests[0] as QueuedRequest).key;
}

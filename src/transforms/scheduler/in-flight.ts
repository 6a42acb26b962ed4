import type { QueuedRequest } from './queued-request.ts';

/** Tickets of one webhook that a thread serves one after the other. */
export interface Batch {
  readonly tickets: readonly QueuedRequest[];
  /** Expected to take long. */
  readonly slow: boolean;
}

/** What a child has to do. */
export interface Load {
  readonly tickets: number;
  /** Batches that are expected to take long. */
  readonly slow: number;
}

export interface Drained {
  /** Those that were being worked on, with what was in one batch with them. */
  begun: QueuedRequest[];
  waiting: QueuedRequest[];
}

interface Flight {
  batch: Batch;
  /** undefined: still waits inside the child for a free thread. */
  begunAt: number | undefined;
}

/** The batches that a child has and has not answered. It begins them in the order they were sent, one a thread: so it
 *  is working on the oldest ones, and no message is needed to know since when. */
export class InFlightRequests {
  readonly #threads: number;
  readonly #flights = new Map<number, Flight>();
  #last = 0;
  #load = { tickets: 0, slow: 0 };

  constructor(threads: number) {
    this.#threads = threads;
  }

  get load(): Load {
    return this.#load;
  }

  get tickets(): QueuedRequest[] {
    return [...this.#flights.values()].flatMap(({ batch }) => batch.tickets);
  }

  /** Returns the number by which the child will answer. */
  add(batch: Batch, now: number): number {
    this.#last += 1;
    this.#flights.set(this.#last, { batch, begunAt: undefined });
    this.#count(batch, 1);
    this.#markBegun(now);
    return this.#last;
  }

  take(number: number, now: number): Batch | undefined {
    const flight = this.#flights.get(number);
    if (flight === undefined) return undefined;
    this.#flights.delete(number);
    this.#count(flight.batch, -1);
    this.#markBegun(now);
    return flight.batch;
  }

  anyBegunBefore(time: number): boolean {
    return this.#flights.values().some(({ begunAt }) => begunAt !== undefined && begunAt < time);
  }

  /** Everybody leaves. */
  drain(): Drained {
    const batches = [...this.#flights.values()].map(({ batch }) => batch.tickets);
    this.#flights.clear();
    this.#load = { tickets: 0, slow: 0 };
    return { begun: batches.slice(0, this.#threads).flat(), waiting: batches.slice(this.#threads).flat() };
  }

  #count({ tickets, slow }: Batch, sign: 1 | -1) {
    this.#load.tickets += sign * tickets.length;
    if (slow) this.#load.slow += sign;
  }

  #markBegun(now: number) {
    let threads = this.#threads;
    for (const flight of this.#flights.values()) {
      flight.begunAt ??= now;
      threads -= 1;
      if (threads === 0) return;
    }
  }
}

import type { Ticket } from './ticket.ts';

interface Flight {
  ticket: Ticket;
  /** undefined: still waits inside the child for a free thread. */
  begunAt: number | undefined;
}

/** The tickets that a child has and has not answered. It begins them in the order they were sent, one a thread: so it
 *  is working on the oldest ones, and no message is needed to know since when. */
export class Flights {
  readonly #threads: number;
  readonly #flights = new Map<number, Flight>();
  #last = 0;

  constructor(threads: number) {
    this.#threads = threads;
  }

  get tickets(): Ticket[] {
    return [...this.#flights.values()].map(({ ticket }) => ticket);
  }

  /** Returns the number by which the child will answer. */
  add(ticket: Ticket, now: number): number {
    this.#last += 1;
    this.#flights.set(this.#last, { ticket, begunAt: undefined });
    this.#markBegun(now);
    return this.#last;
  }

  take(number: number, now: number): Ticket | undefined {
    const flight = this.#flights.get(number);
    this.#flights.delete(number);
    this.#markBegun(now);
    return flight?.ticket;
  }

  anyBegunBefore(time: number): boolean {
    return this.#flights.values().some(({ begunAt }) => begunAt !== undefined && begunAt < time);
  }

  /** Everybody leaves; those that were being worked on come last. */
  drain(): Ticket[] {
    const tickets = this.tickets;
    this.#flights.clear();
    return [...tickets.slice(this.#threads), ...tickets.slice(0, this.#threads)];
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

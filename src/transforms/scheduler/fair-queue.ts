import type { QueuedRequest } from './queued-request.ts';

/** Tickets that wait for their turn: one line a webhook, the lines served in turn, so that a webhook with many
 *  requests does not hold up the others. */
export class FairQueue {
  readonly #places: number;
  /** In the order of service: a line that was served goes to the end. */
  readonly #lines = new Map<string, QueuedRequest[]>();
  #size = 0;

  constructor(places: number) {
    this.#places = places;
  }

  get size() {
    return this.#size;
  }

  /** Returns who must leave when no place is left: the last of the longest line. */
  add(ticket: QueuedRequest): QueuedRequest | undefined {
    if (this.#size >= this.#places) this.#dropSettled();
    const line = this.#lines.get(ticket.key);
    if (line) line.push(ticket);
    else this.#lines.set(ticket.key, [ticket]);
    this.#size += 1;
    return this.#size > this.#places ? this.#lastOfTheLongest(ticket.key) : undefined;
  }

  /** The next in turn among the webhooks that may go. */
  take(mayGo: (key: string) => boolean = () => true): QueuedRequest | undefined {
    for (const [key, line] of this.#lines) {
      if (!mayGo(key)) continue;
      this.#lines.delete(key);
      let ticket = line.shift();
      while (ticket?.settled) {
        this.#size -= 1;
        ticket = line.shift();
      }
      if (line.length > 0) this.#lines.set(key, line);
      if (ticket === undefined) continue;
      this.#size -= 1;
      return ticket;
    }
    return undefined;
  }

  /** The next of one webhook, whoever's turn it is. */
  more(key: string, most: number): QueuedRequest[] {
    const line = this.#lines.get(key) ?? [];
    const taken: QueuedRequest[] = [];
    while (taken.length < most && line.length > 0) {
      const ticket = line.shift() as QueuedRequest;
      this.#size -= 1;
      if (!ticket.settled) taken.push(ticket);
    }
    if (line.length === 0) this.#lines.delete(key);
    return taken;
  }

  /** Those of one webhook that were taken and not served; they keep their places before the others. */
  putBack(tickets: readonly QueuedRequest[]) {
    const [first] = tickets;
    if (first === undefined) return;
    this.#lines.set(first.key, [...tickets, ...(this.#lines.get(first.key) ?? [])]);
    this.#size += tickets.length;
  }

  /** Everybody of one webhook leaves. */
  withdraw(key: string): QueuedRequest[] {
    const line = this.#lines.get(key) ?? [];
    this.#lines.delete(key);
    this.#size -= line.length;
    return line;
  }

  drain(): QueuedRequest[] {
    return [...this.#lines.keys()].flatMap((key) => this.withdraw(key));
  }

  #lastOfTheLongest(preferred: string) {
    let longest = this.#lines.get(preferred) ?? [];
    for (const line of this.#lines.values()) if (line.length > longest.length) longest = line;
    const last = longest.pop();
    this.#size -= 1;
    if (last && longest.length === 0) this.#lines.delete(last.key);
    return last;
  }

  #dropSettled() {
    for (const key of [...this.#lines.keys()]) {
      const open = this.withdraw(key).filter((ticket) => !ticket.settled);
      if (open.length > 0) this.#lines.set(key, open);
      this.#size += open.length;
    }
  }
}

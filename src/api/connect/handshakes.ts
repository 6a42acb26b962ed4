/** WebSockets that have not authenticated yet. Anybody can open one, so they are bounded by address and in all. A newcomer is always let in, and the
 *  oldest of those that may be too many gives way: an app authenticates within moments, who only occupies a socket does not. */
import { addressBlock } from '../../model/network/address.ts';

export interface HandshakeLimits {
  /** Unauthenticated at once. */
  max: number;
  ofAddressMax: number;
  /** What all of them together may have sent. */
  maxBytes: number;
  /** Until the first message is there, and until the end of the registration. */
  helloMs: number;
  totalMs: number;
}

interface Handshake {
  address: string;
  startedAt: number;
  until: number;
  bytes: number;
}

export class Handshakes<T> {
  readonly #limits: HandshakeLimits;
  /** The oldest first. */
  readonly #anonymous = new Map<T, Handshake>();
  readonly #authenticated = new Map<T, Handshake>();

  constructor(limits: HandshakeLimits) {
    this.#limits = limits;
  }

  get all(): T[] {
    return [...this.#anonymous.keys(), ...this.#authenticated.keys()];
  }

  /** @returns the one that gives way */
  begin(one: T, address: string, nowMs: number): T | undefined {
    const block = addressBlock(address);
    const evicted = this.#tooMany(block);
    if (evicted !== undefined) this.#anonymous.delete(evicted);
    const until = nowMs + this.#limits.helloMs;
    this.#anonymous.set(one, { address: block, startedAt: nowMs, until, bytes: 0 });
    return evicted;
  }

  /** @returns the one that gives way: it has sent the most */
  receive(one: T, bytes: number): T | undefined {
    const handshake = this.#anonymous.get(one);
    if (!handshake) return undefined;
    handshake.bytes += bytes;
    let sum = 0;
    let largest = [one, handshake] as const;
    for (const entry of this.#anonymous) {
      sum += entry[1].bytes;
      if (entry[1].bytes > largest[1].bytes) largest = entry;
    }
    if (sum <= this.#limits.maxBytes) return undefined;
    this.#anonymous.delete(largest[0]);
    return largest[0];
  }

  /** Its first message is there. */
  greeted(one: T): void {
    const handshake = this.#anonymous.get(one);
    if (handshake) handshake.until = handshake.startedAt + this.#limits.totalMs;
  }

  /** From now on nobody takes its place. */
  authenticate(one: T): void {
    const handshake = this.#anonymous.get(one);
    if (!handshake) return;
    this.#anonymous.delete(one);
    this.#authenticated.set(one, handshake);
  }

  end(one: T): void {
    this.#anonymous.delete(one);
    this.#authenticated.delete(one);
  }

  /** Ends those that took too long, and returns them. */
  takeOverdue(nowMs: number): T[] {
    const overdue = [...this.#anonymous, ...this.#authenticated].filter(([, { until }]) => nowMs > until);
    for (const [one] of overdue) this.end(one);
    return overdue.map(([one]) => one);
  }

  /** @returns the oldest of the address if that has too many, or of the address that has the most if there are too many in all */
  #tooMany(address: string): T | undefined {
    const byAddress = new Map<string, { oldest: T; count: number }>();
    for (const [one, handshake] of this.#anonymous) {
      const entry = byAddress.get(handshake.address) ?? { oldest: one, count: 0 };
      entry.count++;
      byAddress.set(handshake.address, entry);
    }
    const own = byAddress.get(address);
    if (own && own.count >= this.#limits.ofAddressMax) return own.oldest;
    if (this.#anonymous.size < this.#limits.max) return undefined;
    // Among equals the first wins, which is the oldest.
    return [...byAddress.values()].reduce((most, entry) => (entry.count > most.count ? entry : most)).oldest;
  }
}

/** WebSockets that have not authenticated yet. Anybody can open one, so they are limited per address and in total. A newcomer is always
 *  accepted, and at the limit the oldest is closed: an app authenticates within moments, while an attacker only occupies the socket. */
import { addressBlock } from '../../model/network/address.ts';

export interface HandshakeLimits {
  /** Maximum number of unauthenticated WebSockets. */
  max: number;
  ofAddressMax: number;
  /** Maximum number of bytes that all pending handshakes together may have sent. */
  maxBytes: number;
  /** Deadlines for the first message, and for the end of the registration. */
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
  /** Oldest first. */
  readonly #anonymous = new Map<T, Handshake>();
  readonly #authenticated = new Map<T, Handshake>();

  constructor(limits: HandshakeLimits) {
    this.#limits = limits;
  }

  get all(): T[] {
    return [...this.#anonymous.keys(), ...this.#authenticated.keys()];
  }

  /** @returns the WebSocket to close in its favor, if any */
  begin(socket: T, address: string, nowMs: number): T | undefined {
    const block = addressBlock(address);
    const evicted = this.#tooMany(block);
    if (evicted !== undefined) this.#anonymous.delete(evicted);
    const until = nowMs + this.#limits.helloMs;
    this.#anonymous.set(socket, { address: block, startedAt: nowMs, until, bytes: 0 });
    return evicted;
  }

  /** @returns the WebSocket to close, which has sent the most, if any */
  receive(socket: T, bytes: number): T | undefined {
    const handshake = this.#anonymous.get(socket);
    if (!handshake) return undefined;
    handshake.bytes += bytes;
    let sum = 0;
    let largest = [socket, handshake] as const;
    for (const entry of this.#anonymous) {
      sum += entry[1].bytes;
      if (entry[1].bytes > largest[1].bytes) largest = entry;
    }
    if (sum <= this.#limits.maxBytes) return undefined;
    this.#anonymous.delete(largest[0]);
    return largest[0];
  }

  /** Records that its first message was received. */
  greeted(socket: T): void {
    const handshake = this.#anonymous.get(socket);
    if (handshake) handshake.until = handshake.startedAt + this.#limits.totalMs;
  }

  /** From now on the connection no longer counts as a handshake and is never closed to make room for a new one. */
  authenticate(socket: T): void {
    const handshake = this.#anonymous.get(socket);
    if (!handshake) return;
    this.#anonymous.delete(socket);
    this.#authenticated.set(socket, handshake);
  }

  end(socket: T): void {
    this.#anonymous.delete(socket);
    this.#authenticated.delete(socket);
  }

  /** Removes and returns handshakes that took too long. */
  takeOverdue(nowMs: number): T[] {
    const overdue = [...this.#anonymous, ...this.#authenticated].filter(([, { until }]) => nowMs > until);
    for (const [socket] of overdue) this.end(socket);
    return overdue.map(([socket]) => socket);
  }

  /** @returns the oldest of the address if that has too many; otherwise, if the total is too high, the oldest of the address with the
   *  most */
  #tooMany(address: string): T | undefined {
    const byAddress = new Map<string, { oldest: T; count: number }>();
    for (const [socket, handshake] of this.#anonymous) {
      const entry = byAddress.get(handshake.address) ?? { oldest: socket, count: 0 };
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

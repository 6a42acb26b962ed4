/** The secrets that may send events (setting EVENT_KEYS). */
import { createHash, timingSafeEqual } from 'node:crypto';

export class EventKeys {
  readonly #digests: Buffer[];

  constructor(keys: readonly string[]) {
    this.#digests = keys.map(digest);
  }

  /** Takes the same time whatever the key. */
  has(key: string): boolean {
    const given = digest(key);
    let known = false;
    for (const own of this.#digests) known = timingSafeEqual(own, given) || known;
    return known;
  }
}

function digest(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

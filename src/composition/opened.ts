/** What a process has opened so far. It is closed in the reverse order: when the process ends, and when its start fails half-way. */
import { closeAll } from './container.ts';

interface Closable {
  close(): unknown;
}

export class Opened {
  readonly #closes: (() => unknown)[] = [];
  #isClosed = false;

  /** After `close` it is closed at once: a start that has failed may not have noticed yet. */
  add<Part extends Closable>(part: Part): Part {
    this.#closes.push(() => part.close());
    if (this.#isClosed) this.close().catch(() => {});
    return part;
  }

  /** A failing one does not stop the others.
   *  @throws the first error */
  async close(): Promise<void> {
    this.#isClosed = true;
    await closeAll(this.#closes);
  }
}

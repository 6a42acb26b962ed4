/** Resources that a process has opened so far. They are closed in reverse order when the process ends, or when its start fails halfway. */
import { closeAll } from './container.ts';

interface Closable {
  close(): unknown;
}

export class Opened {
  readonly #closes: (() => unknown)[] = [];
  #isClosed = false;

  /** A resource that is added after `close` is closed immediately: a failed start may not have noticed the failure yet. */
  add<Part extends Closable>(part: Part): Part {
    this.#closes.push(() => part.close());
    if (this.#isClosed) this.close().catch(() => {});
    return part;
  }

  /** If one resource fails to close, the others are still closed.
   *  @throws the first error */
  async close(): Promise<void> {
    this.#isClosed = true;
    await closeAll(this.#closes);
  }
}

/** Reports changes of a file. Watches its folder, because editors replace the file. */
import { watch } from 'node:fs';
import { basename, dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Editors write a file in several steps. */
const SETTLE_MS = 100;

export class FileChanges {
  readonly #signal: AbortSignal;
  #isChanged = false;
  #wake = () => {};

  constructor(file: string, signal: AbortSignal) {
    this.#signal = signal;
    const watcher = watch(dirname(file), (_, name) => {
      if (name !== null && name !== basename(file)) return;
      this.#isChanged = true;
      this.#wake();
    });
    signal.addEventListener('abort', () => {
      watcher.close();
      this.#wake();
    });
  }

  /** Resolves after the next change since the last one, or to false when the signal is aborted. */
  async next(): Promise<boolean> {
    if (!this.#isChanged && !this.#signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    if (this.#signal.aborted) return false;
    await sleep(SETTLE_MS);
    this.#isChanged = false;
    return true;
  }
}

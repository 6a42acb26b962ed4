/** A worker that runs until it is closed. BullMQ's own never runs if one of its connections cannot be made at first, as while nodes of a cluster fail:
 *  then another one is created. */
import { setTimeout } from 'node:timers/promises';
import type { Worker } from 'bullmq';
import type { Logger } from '../log.ts';

const RETRY_MS = 1_000;

export class LastingWorker {
  readonly #create: () => Worker;
  readonly #log: Logger;
  #worker: Worker;
  #concurrency: number | undefined;
  #isClosing = false;

  /** @param create makes a worker that does not run yet (`autorun: false`) */
  constructor(create: () => Worker, log: Logger) {
    this.#create = create;
    this.#log = log;
    this.#worker = create();
    void this.#run();
  }

  set concurrency(concurrency: number) {
    this.#concurrency = concurrency;
    this.#worker.concurrency = concurrency;
  }

  async waitUntilReady(): Promise<void> {
    await this.#worker.waitUntilReady();
  }

  /** Takes no more jobs. Resolves when the active ones are done. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#worker.close();
  }

  async #run(): Promise<void> {
    for (;;) {
      const worker = this.#worker;
      try {
        await worker.run();
        return;
      } catch (error) {
        if (this.#isClosing) return;
        this.#log.warn({ queue: worker.name, err: (error as Error).message }, 'a worker could not run');
      }
      // What it has connected; it has no jobs.
      worker.close(true).catch(() => {});
      await setTimeout(RETRY_MS, undefined, { ref: false });
      if (this.#isClosing) return;
      this.#worker = this.#create();
      if (this.#concurrency !== undefined) this.#worker.concurrency = this.#concurrency;
    }
  }
}

/** One run of the benchmark: its options, what it has opened, and its abort signal. */

import type { BenchmarkRun } from './benchmark-run.ts';
import type { Options } from './options.ts';
import type { Measured } from './results.ts';
import type { Group } from './row.ts';
import { openTestBed, type TestBed, type TestBedOptions } from './test-bed.ts';

/** A group of rows that one function measures. */
export interface Measurement {
  group: Group;
  /** Prefixes of the rows' names. `--only` selects by them. */
  names: readonly string[];
  measure(bench: Benchmark): Promise<Measured>;
}

interface Closable {
  /** Idempotent. */
  close(): Promise<void>;
}

export class Benchmark implements BenchmarkRun {
  readonly options: Options;
  redisVersion = '';
  readonly #opened = new Set<Promise<Closable>>();
  readonly #end = new AbortController();

  constructor(options: Options) {
    this.options = options;
  }

  get signal(): AbortSignal {
    return this.#end.signal;
  }

  abort(reason: Error): void {
    this.#end.abort(reason);
  }

  progress(text: string): void {
    console.error(`${new Date().toISOString().slice(11, 19)}  ${text}`);
  }

  withTestBed<T>(options: TestBedOptions, use: (testBed: TestBed) => Promise<T>): Promise<T> {
    return this.using(openTestBed(this, options), async (testBed) => {
      await testBed.open();
      return use(testBed);
    });
  }

  /** Closes it after use, and when the run ends early. */
  async using<Opened extends Closable, T>(
    opening: Opened | Promise<Opened>,
    use: (opened: Opened) => Promise<T>,
  ): Promise<T> {
    const opened = Promise.resolve(opening);
    this.#opened.add(opened);
    const closable = await opened;
    try {
      this.signal.throwIfAborted();
      return await use(closable);
    } finally {
      await closable.close();
      this.#opened.delete(opened);
    }
  }

  /** Includes what is still opening. */
  async close(): Promise<void> {
    await Promise.allSettled([...this.#opened].map(async (opening) => (await opening).close()));
  }
}

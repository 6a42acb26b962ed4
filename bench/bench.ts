/** One run of the benchmark: its options, its open test beds, and its abort signal. */

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

export class Benchmark implements BenchmarkRun {
  readonly options: Options;
  redisVersion = '';
  readonly #testBeds = new Set<Promise<TestBed>>();
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

  async withTestBed<T>(options: TestBedOptions, use: (testBed: TestBed) => Promise<T>): Promise<T> {
    const opening = openTestBed(this, options);
    this.#testBeds.add(opening);
    const testBed = await opening;
    try {
      this.signal.throwIfAborted();
      await testBed.open();
      return await use(testBed);
    } finally {
      await testBed.close();
      this.#testBeds.delete(opening);
    }
  }

  /** Includes test beds that are still opening. */
  async close(): Promise<void> {
    await Promise.allSettled([...this.#testBeds].map(async (opening) => (await opening).close()));
  }
}

/** One run of the benchmark: its options, the stages that it has open, and whether it goes on. */
import type { Options } from './options.ts';
import type { Found } from './results.ts';
import type { Group } from './row.ts';
import type { Running } from './running.ts';
import { openStage, type Stage, type StageOptions } from './test-bed.ts';

/** Rows that are measured together. */
export interface Measure {
  group: Group;
  /** The rows' names begin so: by these `--only` finds it. */
  names: readonly string[];
  measure(bench: Bench): Promise<Found>;
}

export class Bench implements Running {
  readonly options: Options;
  redisVersion = '';
  readonly #stages = new Set<Promise<Stage>>();
  readonly #end = new AbortController();

  constructor(options: Options) {
    this.options = options;
  }

  get signal(): AbortSignal {
    return this.#end.signal;
  }

  abort(why: Error): void {
    this.#end.abort(why);
  }

  tell(text: string): void {
    console.error(`${new Date().toISOString().slice(11, 19)}  ${text}`);
  }

  async onStage<T>(options: StageOptions, use: (stage: Stage) => Promise<T>): Promise<T> {
    const opening = openStage(this, options);
    this.#stages.add(opening);
    const stage = await opening;
    try {
      this.signal.throwIfAborted();
      await stage.open();
      return await use(stage);
    } finally {
      await stage.close();
      this.#stages.delete(opening);
    }
  }

  /** Also stages that are only just being opened. */
  async close(): Promise<void> {
    await Promise.allSettled([...this.#stages].map(async (opening) => (await opening).close()));
  }
}

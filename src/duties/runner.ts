/** Runs the duties of a process. A failing round ends neither the process nor other duties. */
import { bind, type Duty } from './duty.ts';
import { DutyLoop, type DutyState, type LoopDeps } from './loop.ts';
import { REAL_TIME } from './time.ts';

/** Duties that are closed together. */
export interface StartedDuties {
  /** Starts no more rounds, and waits for the rounds in progress. */
  close(): Promise<void>;
}

export class DutyRunner {
  readonly #deps: LoopDeps;
  readonly #loops = new Map<string, DutyLoop>();

  /** @param deps `partitions` is for workers */
  constructor(deps: Omit<LoopDeps, 'partitions' | 'time'> & Partial<LoopDeps>) {
    this.#deps = { partitions: () => [], time: REAL_TIME, ...deps };
  }

  /** Begins with a round of each, unless declared otherwise. */
  start<Deps>(duties: readonly Duty<Deps>[], deps: Deps): StartedDuties {
    const started: DutyLoop[] = [];
    for (const duty of duties) {
      if (duty.isWanted?.(deps) === false) continue;
      const loop = new DutyLoop({ ...this.#deps, duty: bind(duty, deps) });
      this.#loops.set(duty.name, loop);
      started.push(loop);
      loop.start();
    }
    return { close: async () => void (await Promise.all(started.map((loop) => loop.close()))) };
  }

  /** The log has one line for the process, after the last duty has started. */
  logStarted(): void {
    this.#deps.log.info({ duties: [...this.#loops.keys()] }, 'duties started');
  }

  /** States in the order in which the duties were started. */
  get states(): DutyState[] {
    return [...this.#loops.values()].map(({ state }) => state);
  }

  /** Runs a round immediately, after a running one. Resolves when it has ended, even with a failure. */
  async runNow(name: string): Promise<void> {
    const loop = this.#loops.get(name);
    if (!loop) throw new RangeError(`no duty ${name} here, only ${[...this.#loops.keys()].join(', ')}`);
    await loop.runNow();
  }
}

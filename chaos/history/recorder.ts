/** Collects the entries of a run. */
import type { Timeline } from '../timeline.ts';
import type { Control, Entry, Outcome } from './entry.ts';
import { History } from './history.ts';

export class Recorder {
  readonly #entries: Entry[] = [];
  readonly #timeline: Timeline;

  constructor(timeline: Timeline) {
    this.#timeline = timeline;
  }

  get nowMs(): number {
    return this.#timeline.nowMs;
  }

  add(entry: Entry): void {
    this.#entries.push(entry);
  }

  /** @param work fails where it is not known whether the operation took effect */
  async control(of: Pick<Control, 'what' | 'functionId' | 'runId'>, work: () => Promise<unknown>): Promise<Outcome> {
    const invokedMs = this.nowMs;
    const result: Outcome = await work().then(
      () => 'ok',
      () => 'unknown',
    );
    this.add({ kind: 'control', ...of, invokedMs, completedMs: this.nowMs, result });
    return result;
  }

  /** @param atTheEnd what the service has */
  history(atTheEnd: readonly Entry[]): History {
    return new History([...this.#timeline.faults(), ...this.#entries, ...atTheEnd]);
  }
}

/** Batches and debounces of a simulation: events that have one run together. */
import type { FlowOptions } from '../../flow-control/options.ts';
import { Composed } from '../../values/composed.ts';
import type { SimulatedEvent } from './simulated-flow.ts';
import type { Timeline } from './timeline.ts';

interface Group {
  /** The event of the run. */
  event: SimulatedEvent;
  count: number;
  firstAt: number;
  dueAt: number;
}

export class SimulatedGroups extends Composed<{ options: FlowOptions; timeline: Timeline }> {
  readonly #batches = new Map<string, Group>();
  readonly #debounces = new Map<string, Group>();

  /** @param run is called when the batch is full or due
   *  @returns whether the event joins the batch of others */
  addToBatch(event: SimulatedEvent, run: (event: SimulatedEvent) => void): boolean {
    const { batch } = this.deps.options;
    const key = event.batch;
    if (!batch || key === undefined) {
      run(event);
      return false;
    }
    const { nowMs } = this.deps.timeline;
    const open = this.#batches.get(key);
    const group = open ?? { event, count: 0, firstAt: nowMs, dueAt: nowMs + batch.timeoutMs };
    group.count++;
    const close = () => {
      if (this.#batches.get(key) !== group) return;
      this.#batches.delete(key);
      run(group.event);
    };
    if (!open) {
      this.#batches.set(key, group);
      this.deps.timeline.set(group.dueAt, close);
    }
    if (group.count >= batch.maxSize) close();
    return open !== undefined;
  }

  /** Like `addToBatch`. The latest event has the run. */
  addToDebounce(event: SimulatedEvent, run: (event: SimulatedEvent) => void): boolean {
    const { debounce } = this.deps.options;
    if (!debounce) {
      run(event);
      return false;
    }
    const { nowMs } = this.deps.timeline;
    const { debounce: key } = event;
    const open = this.#debounces.get(key);
    // An older event that arrives later neither wins nor extends the period.
    if (open && event.ts < open.event.ts) return true;
    const group = open ?? { event, count: 0, firstAt: nowMs, dueAt: 0 };
    group.event = event;
    group.dueAt = Math.min(nowMs + debounce.periodMs, group.firstAt + (debounce.timeoutMs ?? Number.POSITIVE_INFINITY));
    this.#debounces.set(key, group);
    this.deps.timeline.set(group.dueAt, () => {
      if (this.#debounces.get(key) !== group || group.dueAt > this.deps.timeline.nowMs) return;
      this.#debounces.delete(key);
      run(group.event);
    });
    return open !== undefined;
  }
}

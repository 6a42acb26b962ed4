/** Simulates flow control: these events under these limits, each run with the calls of a stored one. It follows the order and the rules of
 *  real flow control (docs/flow-control.md), for one function alone and without failures. Bounded in time and memory by the events and the
 *  budget. */
import type { FlowOptions } from '../../flow-control/options.ts';
import { SimulatedDecisions } from './decisions.ts';
import { SimulatedGroups } from './event-groups.ts';
import type { SimulatedCall, SimulatedEvent, SimulatedFlow } from './simulated-flow.ts';
import { SimulatedLimits } from './simulated-limits.ts';
import { Timeline } from './timeline.ts';

/** Moments and comparisons: about 50 ms. */
const BUDGET = 1_000_000;
const ONE_CALL: readonly SimulatedCall[] = [{ afterMs: 0, ms: 0 }];
const NO_OPTIONS: FlowOptions = { runConcurrency: [], stepConcurrency: [] };

/** @param events in the order of their receipt
 *  @param courses calls of stored runs, which simulated runs have in turn; none: simulated runs take no time */
export function simulateFlow(
  events: readonly SimulatedEvent[],
  options: FlowOptions | undefined,
  courses: readonly (readonly SimulatedCall[])[],
  budget = BUDGET,
): SimulatedFlow {
  const simulation = new Simulation(options ?? NO_OPTIONS, courses, budget);
  return simulation.run(events);
}

interface SimulatedRun {
  isOver: boolean;
  hasStarted: boolean;
  end(): void;
}

class Simulation {
  readonly #options: FlowOptions;
  readonly #courses: readonly (readonly SimulatedCall[])[];
  readonly #timeline: Timeline;
  readonly #groups: SimulatedGroups;
  readonly #decisions: SimulatedDecisions;
  readonly #limits: SimulatedLimits;
  /** Active runs by the key of their singleton. */
  readonly #singletons = new Map<string, SimulatedRun>();
  readonly #skipped = { rate_limited: 0, idempotent: 0, singleton: 0 };
  readonly #waits: number[] = [];
  #runs = 0;
  #merged = 0;
  #cancelled = 0;
  #waiting = 0;
  #waitingMax = 0;

  constructor(options: FlowOptions, courses: readonly (readonly SimulatedCall[])[], budget: number) {
    this.#options = options;
    this.#courses = courses.length > 0 ? courses : [ONE_CALL];
    this.#timeline = new Timeline(budget);
    this.#groups = new SimulatedGroups({ options, timeline: this.#timeline });
    this.#decisions = new SimulatedDecisions(options);
    this.#limits = new SimulatedLimits({ options, timeline: this.#timeline });
  }

  run(events: readonly SimulatedEvent[]): SimulatedFlow {
    for (const event of events) {
      this.#timeline.advanceTo(event.at);
      if (this.#timeline.isUsedUp) break;
      if (this.#groups.addToBatch(event, (first) => this.#decide(first))) this.#merged++;
    }
    this.#timeline.advanceTo(Number.POSITIVE_INFINITY);
    const waits = this.#waits.sort((a, b) => a - b);
    return {
      events: events.length,
      runs: this.#runs,
      skipped: this.#skipped,
      merged: this.#merged,
      cancelled: this.#cancelled,
      waitingMax: this.#waitingMax,
      waitP99Ms: Math.round(waits[Math.ceil(0.99 * waits.length) - 1] ?? 0),
      waitMaxMs: Math.round(waits.at(-1) ?? 0),
      complete: !this.#timeline.isUsedUp,
    };
  }

  #decide(event: SimulatedEvent): void {
    const refusal = this.#decisions.refusalOf(event, this.#timeline.nowMs);
    if (refusal) {
      this.#skipped[refusal]++;
      return;
    }
    const isMerged = this.#groups.addToDebounce(event, (latest) => {
      if (!this.#create(latest)) this.#decisions.takeBack(latest);
    });
    if (isMerged) this.#merged++;
  }

  /** @returns false if the singleton has an active run */
  #create(event: SimulatedEvent): boolean {
    const { singleton } = this.#options;
    const key = singleton ? event.singleton : undefined;
    const active = key === undefined ? undefined : this.#singletons.get(key);
    if (active && singleton?.mode === 'skip') {
      this.#skipped.singleton++;
      return false;
    }
    if (active) {
      this.#cancelled++;
      active.end();
    }
    const run = this.#newRun(event, key);
    if (key !== undefined) this.#singletons.set(key, run.state);
    run.begin();
    return true;
  }

  #newRun(event: SimulatedEvent, key: string | undefined) {
    const course = this.#courses[this.#runs++ % this.#courses.length] as readonly SimulatedCall[];
    const queuedAt = this.#timeline.nowMs;
    const state: SimulatedRun = {
      isOver: false,
      hasStarted: false,
      end: () => {
        if (state.isOver) return;
        state.isOver = true;
        if (key !== undefined && this.#singletons.get(key) === state) this.#singletons.delete(key);
        if (state.hasStarted) this.#limits.release('run', event);
        else this.#waiting--;
      },
    };
    const call = (number: number): void => {
      const { ms } = course[number] ?? { ms: 0 };
      const next = course[number + 1];
      this.#limits.request({
        score: (number === 0 ? queuedAt : this.#timeline.nowMs) - 1_000 * event.prioritySeconds,
        isStart: number === 0,
        event,
        isOver: () => state.isOver,
        begin: () => {
          if (number === 0) this.#started(state, queuedAt);
          this.#timeline.set(this.#timeline.nowMs + ms, () => {
            if (!next) state.end();
            this.#limits.release('step', event);
            if (next && !state.isOver)
              this.#timeline.set(this.#timeline.nowMs + next.afterMs, () => state.isOver || call(number + 1));
          });
        },
      });
    };
    const begin = () => {
      this.#waiting++;
      call(0);
      this.#waitingMax = Math.max(this.#waitingMax, this.#waiting);
    };
    return { state, begin };
  }

  #started(state: SimulatedRun, queuedAt: number): void {
    state.hasStarted = true;
    this.#waiting--;
    this.#waits.push(this.#timeline.nowMs - queuedAt);
  }
}

/** The timer of debounces: creates the runs of debounces that are over. A debounce is removed only after its run exists, so a worker may
 *  die at any point. */
import type { AppFunction } from '../../model/apps/app.ts';
import type { Decision } from '../../model/flow-control/decision.ts';
import { flowOptionsOf } from '../../model/flow-control/function-options.ts';
import { runIdOf } from '../../model/runs/run.ts';
import type { Events } from '../../store/events/events.ts';
import type { DebouncePeriods, Debounces, FiredDebounce } from '../../store/flow-control/debounces.ts';
import type { EventRestorer } from '../archive/event-restorer.ts';
import type { Candidate } from '../flow-control/candidate.ts';
import type { DebounceStage } from '../flow-control/debounces.ts';
import type { DecisionLog } from '../flow-control/flow-control.ts';
import type { Looks } from '../flow-control/looks.ts';
import type { FunctionTables } from '../functions/function-tables.ts';
import type { DebounceTimer } from '../queues/queues.ts';
import type { HeldRuns } from './held-runs.ts';

/** Periods for a function that no longer has a debounce: all are over. */
const NO_PERIODS: DebouncePeriods = { periodMs: 0 };

export interface DebounceTimersDeps {
  debounces: Debounces;
  /** Includes archived events. */
  events: Pick<Events, 'envelopes'>;
  /** Runs read their events from Redis. */
  restorer: EventRestorer;
  functions: FunctionTables;
  decisions: DecisionLog;
  looks: Looks;
  heldRuns: HeldRuns;
  stage: DebounceStage;
}

export class DebounceTimers {
  readonly #deps: DebounceTimersDeps;

  constructor(deps: DebounceTimersDeps) {
    this.#deps = deps;
  }

  async handle({ env, functionId, partition }: DebounceTimer): Promise<void> {
    const { debounces, functions, looks, heldRuns } = this.#deps;
    if (!(await heldRuns.exists(env))) return;
    const fn = (await functions.of(env)).find(functionId);
    const periods = periodsOf(fn);
    const taken = await debounces.take(partition, env, functionId, periods);
    let wanted = taken.looks;
    if (taken.fired.length > 0) {
      if (fn) await this.#start(env, fn, taken.fired);
      const ids = taken.fired.map(({ eventId }) => eventId);
      wanted = (await debounces.complete(partition, env, functionId, periods, ids)).looks;
    }
    await looks.set('debounce', env, functionId, wanted);
  }

  async #start(env: string, fn: AppFunction, fired: readonly FiredDebounce[]): Promise<void> {
    const { events, restorer, decisions, heldRuns, stage } = this.#deps;
    const found = await events.envelopes(
      env,
      fired.map(({ eventId }) => eventId),
    );
    const candidates = [...found.values()].map((event): Candidate => {
      return { id: runIdOf(event.internalId, fn.id), fn, event, dueAt: event.ts, cause: 'event', repeated: true };
    });
    await restorer.ensure(env, [...found.keys()]);
    await heldRuns.start(candidates, stage);
    const replaced = fired.flatMap((debounce) => decisionsOn(debounce, env, fn.id));
    if (replaced.length > 0) await decisions.add(replaced);
  }
}

/** Only now is it known which run the events were debounced into. */
function decisionsOn({ eventId, replaced }: FiredDebounce, env: string, functionId: string): Decision[] {
  const runId = runIdOf(eventId, functionId);
  return replaced.map((id) => ({ env, eventId: id, functionId, reason: 'debounced', runId }));
}

function periodsOf(fn: AppFunction | undefined): DebouncePeriods {
  return (fn && !fn.archived && flowOptionsOf(fn)?.debounce) || NO_PERIODS;
}

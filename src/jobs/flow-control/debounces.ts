/** Stage of debounces: among the events of a function with `debounce`, the latest gets a run once no later one has come for the period. A
 *  timer creates it (jobs/timers/debounces.ts). */
import type { AppFunction } from '../../model/apps/app.ts';
import { scopedFunction } from '../../model/apps/scoped-function.ts';
import type { Decision } from '../../model/flow-control/decision.ts';
import { flowOptionsOf } from '../../model/flow-control/function-options.ts';
import type { Debounce, FlowOptions } from '../../model/flow-control/options.ts';
import { runIdOf } from '../../model/runs/run.ts';
import { SLACK_MS } from '../../store/events/event-location.ts';
import type { Events } from '../../store/events/events.ts';
import type { DebounceResult, Debounces } from '../../store/flow-control/debounces.ts';
import type { RunLists } from '../../store/runs/run-lists.ts';
import type { Candidate, FlowStage, StageResult } from './candidate.ts';
import type { FlowKeys } from './flow-keys.ts';
import { formerRuns } from './former-runs.ts';
import type { Looks } from './looks.ts';

export interface DebounceStageDeps {
  debounces: Debounces;
  events: Pick<Events, 'extendRetention'>;
  runLists: Pick<RunLists, 'briefsByEvent'>;
  flowKeys: FlowKeys;
  looks: Looks;
}

export class DebounceStage implements FlowStage {
  readonly #deps: DebounceStageDeps;

  constructor(deps: DebounceStageDeps) {
    this.#deps = deps;
  }

  appliesTo({ debounce }: FlowOptions, { cause }: Candidate): boolean {
    return debounce !== undefined && cause === 'event';
  }

  async apply(candidates: readonly Candidate[]): Promise<StageResult> {
    const decisions: Decision[] = [];
    const byFunction = Map.groupBy(candidates, ({ fn, event }) => scopedFunction(event.env, fn.id));
    for (const ofFunction of byFunction.values()) {
      const former = await formerRuns((ofFunction[0] as Candidate).event.env, ofFunction, this.#deps.runLists);
      decisions.push(...(await this.#add(ofFunction.filter((candidate) => !former.has(candidate)))));
    }
    return { admitted: [], decisions };
  }

  /** @param candidates candidates of one function */
  async #add(candidates: readonly Candidate[]): Promise<Decision[]> {
    const [first] = candidates;
    if (!first) return [];
    const { debounces, events, flowKeys, looks } = this.#deps;
    const { env } = first.event;
    const debounce = debounceOf(first.fn);
    if (debounce.periodMs > SLACK_MS) {
      await Promise.all(
        candidates.map(({ event }) => events.extendRetention(env, event.internalId, debounce.periodMs)),
      );
    }
    const entries = candidates.map((candidate) => ({
      key: flowKeys.textOf(debounce.key, candidate),
      eventId: candidate.event.internalId,
      ts: candidate.event.ts,
      repeated: candidate.repeated ?? false,
    }));
    const beganAt = first.beganAt ?? Date.now();
    const { results, looks: wanted } = await debounces.add(env, first.fn.id, debounce, entries, beganAt);
    await looks.set('debounce', env, first.fn.id, wanted);
    return candidates.flatMap((candidate, i) => decisionOn(candidate, results[i] as DebounceResult));
  }
}

function debounceOf(fn: AppFunction): Debounce {
  return flowOptionsOf(fn)?.debounce as Debounce;
}

/** The decision about the event that lost, if any. */
function decisionOn({ event: { env, internalId }, fn }: Candidate, result: DebounceResult): Decision[] {
  const about = (eventId: string): Decision => ({ env, eventId, functionId: fn.id, reason: 'debounced' });
  switch (result.outcome) {
    case 'waits':
      return [];
    case 'replaces':
      return [about(result.eventId)];
    case 'replaced':
      return [about(internalId)];
    case 'fired':
      return result.eventId === internalId ? [] : [{ ...about(internalId), runId: runIdOf(result.eventId, fn.id) }];
  }
}

/** Stage of batches, and of debounces: an event of a function with the option joins a group, which will have one run. A timer creates the run
 *  (jobs/timers/event-groups.ts), even if a batch is full, so that a worker that dies here leaves no group without its run. */

import { scopedFunction } from '../../model/apps/scoped-function.ts';
import type { Decision } from '../../model/flow-control/decision.ts';
import { flowOptionsOf } from '../../model/flow-control/function-options.ts';
import type { FlowOptions } from '../../model/flow-control/options.ts';
import type { PartitionedIds } from '../../model/partitions/partitioned-ids.ts';
import { batchRunIdOf, runIdOf } from '../../model/runs/run.ts';
import type { Clock } from '../../model/values/clock.ts';
import { SLACK_MS } from '../../store/events/event-location.ts';
import type { DebounceResult } from '../../store/flow-control/debounces.ts';
import type { EventGroups } from '../../store/flow-control/event-groups.ts';
import type { Store } from '../../store/store.ts';
import { type FlowKeys, sourceOf } from './flow-keys.ts';
import type { FlowStage, RunProposal, StageResult } from './run-proposal.ts';
import type { TimerChecks } from './timer-checks.ts';

export type GroupOption = 'batch' | 'debounce';
export type OptionsOf<Option extends GroupOption> = NonNullable<FlowOptions[Option]>;

export interface EventGroupDeps {
  ids: PartitionedIds;
  events: Pick<Store['events'], 'extendRetention'>;
  runLists: Pick<Store['runLists'], 'briefsByEvent'>;
  flowKeys: FlowKeys;
  timerChecks: TimerChecks;
  clock: Clock;
}

/** The differences between batches and debounces. `Added`: the effect of an event on its group. */
export interface GroupRules<Option extends GroupOption, Added> {
  readonly option: Option;
  /** How long an event may wait. */
  waitMs(options: OptionsOf<Option>): number;
  /** The time that counts for its group, Unix milliseconds. */
  timeOf(proposal: RunProposal): number;
  /** Whether the event joins no group. */
  runsAlone?(proposal: RunProposal, options: OptionsOf<Option>, nowMs: number, flowKeys: FlowKeys): boolean;
  /** Returns the result for an event to which an earlier try of its job gave a run. */
  onFormerRun(proposal: RunProposal, runId: string): Partial<StageResult>;
  decisionsOn(proposal: RunProposal, added: Added, ids: PartitionedIds): Decision[];
}

export class EventGroupStage<Option extends GroupOption, Added> implements FlowStage {
  readonly #rules: GroupRules<Option, Added>;
  readonly #groups: Pick<EventGroups<OptionsOf<Option>, Added, never>, 'add'>;
  readonly #deps: EventGroupDeps;

  constructor(
    rules: GroupRules<Option, Added>,
    groups: Pick<EventGroups<OptionsOf<Option>, Added, never>, 'add'>,
    deps: EventGroupDeps,
  ) {
    this.#rules = rules;
    this.#groups = groups;
    this.#deps = deps;
  }

  appliesTo(options: FlowOptions, { cause }: RunProposal): boolean {
    return options[this.#rules.option] !== undefined && cause === 'event';
  }

  async apply(proposals: readonly RunProposal[]): Promise<StageResult> {
    const nowMs = this.#deps.clock();
    const byFunction = Map.groupBy(proposals, ({ fn, event }) => scopedFunction(event.env, fn.id));
    const results: Partial<StageResult>[] = [];
    for (const ofFunction of byFunction.values()) results.push(...(await this.#applyTo(ofFunction, nowMs)));
    return {
      admitted: results.flatMap(({ admitted = [] }) => admitted),
      decisions: results.flatMap(({ decisions = [] }) => decisions),
    };
  }

  /** @param proposals proposals of one function */
  async #applyTo(proposals: readonly RunProposal[], nowMs: number): Promise<Partial<StageResult>[]> {
    const { event, fn } = proposals[0] as RunProposal;
    const { flowKeys, runLists } = this.#deps;
    const rules = this.#rules;
    const options = flowOptionsOf(fn)?.[rules.option] as OptionsOf<Option>;
    const alone: RunProposal[] = [];
    const together: RunProposal[] = [];
    for (const proposal of proposals) {
      (rules.runsAlone?.(proposal, options, nowMs, flowKeys) ? alone : together).push(proposal);
    }
    const former = await formerRuns(event.env, together, runLists);
    const decisions = await this.#add(
      together.filter((proposal) => !former.has(proposal)),
      options,
      nowMs,
    );
    return [
      { admitted: alone, decisions },
      ...[...former].map(([proposal, runId]) => rules.onFormerRun(proposal, runId)),
    ];
  }

  async #add(proposals: readonly RunProposal[], options: OptionsOf<Option>, nowMs: number): Promise<Decision[]> {
    const [first] = proposals;
    if (!first) return [];
    const { ids, events, flowKeys, timerChecks } = this.#deps;
    const { option, waitMs, timeOf, decisionsOn } = this.#rules;
    const { env } = first.event;
    const wait = waitMs(options);
    if (wait > SLACK_MS) {
      await Promise.all(proposals.map(({ event }) => events.extendRetention(env, event.internalId, wait)));
    }
    const grouped = proposals.map((proposal) => ({
      key: flowKeys.textOf(options.key, proposal),
      eventId: proposal.event.internalId,
      values: [timeOf(proposal), Buffer.byteLength(proposal.event.payload)] as const,
      repeated: proposal.repeated ?? false,
    }));
    const added = await this.#groups.add(env, first.fn.id, options, grouped, first.beganAt ?? nowMs);
    await timerChecks.set(option, env, first.fn.id, added.timerChecks);
    return proposals.flatMap((proposal, i) => decisionsOn(proposal, added.added[i] as Added, ids));
  }
}

/** Finds the runs that events of a repeated ingest job already have.
 *  @param proposals proposals of one environment
 *  @returns the ID of the existing run of each proposal that has one */
async function formerRuns(
  env: string,
  proposals: readonly RunProposal[],
  runLists: Pick<Store['runLists'], 'briefsByEvent'>,
): Promise<Map<RunProposal, string>> {
  const repeated = proposals.filter((proposal) => proposal.repeated);
  const runs = await runLists.briefsByEvent(
    env,
    repeated.map(({ event }) => event.internalId),
  );
  return new Map(
    repeated.flatMap((proposal, i) => {
      const run = runs[i]?.find(({ functionId }) => functionId === proposal.fn.id);
      return run ? [[proposal, run.id] as const] : [];
    }),
  );
}

/** An event of a function with `batchEvents` waits for others, and they share one run. */
export const BATCH_RULES: GroupRules<'batch', string> = {
  option: 'batch',
  waitMs: ({ timeoutMs }) => timeoutMs,
  timeOf: ({ dueAt }) => dueAt,
  /** Whether the event does not meet the condition, or is for a time beyond the batch. */
  runsAlone(proposal, { timeoutMs, if: condition }, nowMs, flowKeys) {
    if (proposal.dueAt > nowMs + timeoutMs) return true;
    return condition !== undefined && flowKeys.valueOf(condition, sourceOf(proposal)) !== true;
  },
  onFormerRun(proposal, runId) {
    // The event ran by itself before its function had batches: the rest of that run's creation is repeated.
    return runId === proposal.id ? { admitted: [proposal] } : { decisions: [decisionOf(proposal, runId)] };
  },
  decisionsOn: (proposal, batchId, ids) => [decisionOf(proposal, batchRunIdOf(ids, batchId, proposal.fn.id))],
};

function decisionOf({ event: { env, internalId }, fn }: RunProposal, runId: string): Decision {
  return { env, eventId: internalId, functionId: fn.id, reason: 'batched', runId };
}

/** Among the events of a function with `debounce`, the latest gets a run once no later one has arrived for the period. */
export const DEBOUNCE_RULES: GroupRules<'debounce', DebounceResult> = {
  option: 'debounce',
  waitMs: ({ periodMs }) => periodMs,
  timeOf: ({ event }) => event.ts,
  onFormerRun: () => ({}),
  /** The decision about the event that was replaced, if any. */
  decisionsOn({ event: { env, internalId }, fn }, result, ids) {
    const about = (eventId: string): Decision => ({ env, eventId, functionId: fn.id, reason: 'debounced' });
    switch (result.outcome) {
      case 'waits':
        return [];
      case 'replaces':
        return [about(result.eventId)];
      case 'replaced':
        return [about(internalId)];
      case 'fired':
        if (result.eventId === internalId) return [];
        return [{ ...about(internalId), runId: runIdOf(ids, result.eventId, fn.id) }];
    }
  },
};

/** Stage of batches, and of debounces: an event of a function with the option joins a group, which will have one run. A timer creates the run
 *  (jobs/timers/event-groups.ts), even if a batch is full, so that a worker that dies here leaves no group without its run. */

import { scopedFunction } from '../../model/apps/scoped-function.ts';
import type { Decision } from '../../model/flow-control/decision.ts';
import { flowOptionsOf } from '../../model/flow-control/function-options.ts';
import type { FlowOptions } from '../../model/flow-control/options.ts';
import type { PartitionedIds } from '../../model/partitions/partitioned-ids.ts';
import type { Clock } from '../../model/values/clock.ts';
import { SLACK_MS } from '../../store/events/event-location.ts';
import type { Events } from '../../store/events/events.ts';
import type { EventGroups } from '../../store/flow-control/event-groups.ts';
import type { RunLists } from '../../store/runs/run-lists.ts';
import type { Candidate, FlowStage, StageResult } from './candidate.ts';
import type { FlowKeys } from './flow-keys.ts';
import { formerRuns } from './former-runs.ts';
import type { TimerChecks } from './timer-checks.ts';

export type GroupOption = 'batch' | 'debounce';
export type OptionsOf<Option extends GroupOption> = NonNullable<FlowOptions[Option]>;

export interface EventGroupDeps {
  ids: PartitionedIds;
  events: Pick<Events, 'extendRetention'>;
  runLists: Pick<RunLists, 'briefsByEvent'>;
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
  timeOf(candidate: Candidate): number;
  /** Whether the event joins no group. */
  runsAlone?(candidate: Candidate, options: OptionsOf<Option>, nowMs: number, flowKeys: FlowKeys): boolean;
  /** About an event that an earlier try of its job gave a run. */
  onFormerRun(candidate: Candidate, runId: string): Partial<StageResult>;
  decisionsOn(candidate: Candidate, added: Added, ids: PartitionedIds): Decision[];
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

  appliesTo(options: FlowOptions, { cause }: Candidate): boolean {
    return options[this.#rules.option] !== undefined && cause === 'event';
  }

  async apply(candidates: readonly Candidate[]): Promise<StageResult> {
    const nowMs = this.#deps.clock();
    const byFunction = Map.groupBy(candidates, ({ fn, event }) => scopedFunction(event.env, fn.id));
    const results: Partial<StageResult>[] = [];
    for (const ofFunction of byFunction.values()) results.push(...(await this.#applyTo(ofFunction, nowMs)));
    return {
      admitted: results.flatMap(({ admitted = [] }) => admitted),
      decisions: results.flatMap(({ decisions = [] }) => decisions),
    };
  }

  /** @param candidates candidates of one function */
  async #applyTo(candidates: readonly Candidate[], nowMs: number): Promise<Partial<StageResult>[]> {
    const { event, fn } = candidates[0] as Candidate;
    const { flowKeys, runLists } = this.#deps;
    const rules = this.#rules;
    const options = flowOptionsOf(fn)?.[rules.option] as OptionsOf<Option>;
    const alone: Candidate[] = [];
    const together: Candidate[] = [];
    for (const candidate of candidates) {
      (rules.runsAlone?.(candidate, options, nowMs, flowKeys) ? alone : together).push(candidate);
    }
    const former = await formerRuns(event.env, together, runLists);
    const decisions = await this.#add(
      together.filter((candidate) => !former.has(candidate)),
      options,
      nowMs,
    );
    return [
      { admitted: alone, decisions },
      ...[...former].map(([candidate, runId]) => rules.onFormerRun(candidate, runId)),
    ];
  }

  async #add(candidates: readonly Candidate[], options: OptionsOf<Option>, nowMs: number): Promise<Decision[]> {
    const [first] = candidates;
    if (!first) return [];
    const { ids, events, flowKeys, timerChecks } = this.#deps;
    const { option, waitMs, timeOf, decisionsOn } = this.#rules;
    const { env } = first.event;
    const wait = waitMs(options);
    if (wait > SLACK_MS) {
      await Promise.all(candidates.map(({ event }) => events.extendRetention(env, event.internalId, wait)));
    }
    const grouped = candidates.map((candidate) => ({
      key: flowKeys.textOf(options.key, candidate),
      eventId: candidate.event.internalId,
      values: [timeOf(candidate), Buffer.byteLength(candidate.event.payload)] as const,
      repeated: candidate.repeated ?? false,
    }));
    const added = await this.#groups.add(env, first.fn.id, options, grouped, first.beganAt ?? nowMs);
    await timerChecks.set(option, env, first.fn.id, added.timerChecks);
    return candidates.flatMap((candidate, i) => decisionsOn(candidate, added.added[i] as Added, ids));
  }
}

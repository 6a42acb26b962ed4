/** The timer of batches and debounces: creates the runs of full or due groups. A group is removed only after its run exists and is listed
 *  under its events, so a worker may die at any point. */
import type { AppFunction } from '../../model/apps/app.ts';
import type { Decision } from '../../model/flow-control/decision.ts';
import { flowOptionsOf } from '../../model/flow-control/function-options.ts';
import type { EventGroups } from '../../store/flow-control/event-groups.ts';
import type { EventRestorer } from '../archive/event-restorer.ts';
import type { GroupOption, OptionsOf } from '../flow-control/event-group-stage.ts';
import type { DecisionLog } from '../flow-control/flow-control.ts';
import type { FlowStage, RunProposal } from '../flow-control/run-proposal.ts';
import type { TimerChecks } from '../flow-control/timer-checks.ts';
import type { FunctionTables } from '../functions/function-tables.ts';
import type { EventGroupTimer } from '../queues/queues.ts';
import type { GroupRunStarter } from './group-runs.ts';

export interface EventGroupTimersDeps {
  /** Runs read their events from Redis. */
  eventRestorer: EventRestorer;
  functions: FunctionTables;
  decisions: DecisionLog;
  timerChecks: TimerChecks;
  groupRunStarter: GroupRunStarter;
}

export interface GroupRuns<Option extends GroupOption, Closed> {
  readonly option: Option;
  /** For a function that no longer has the option: remaining groups are due. */
  readonly withoutOption: OptionsOf<Option>;
  proposalsOf(env: string, fn: AppFunction, closed: readonly Closed[]): Promise<RunProposal[]>;
  /** Decisions to store once the runs exist. */
  decisionsOf?(env: string, fn: AppFunction, closed: readonly Closed[]): Decision[];
}

export class EventGroupTimers<Option extends GroupOption, Closed extends { id: string }> {
  readonly #runs: GroupRuns<Option, Closed>;
  readonly #groups: Pick<EventGroups<OptionsOf<Option>, unknown, Closed>, 'take' | 'complete'>;
  readonly #stage: FlowStage;
  readonly #deps: EventGroupTimersDeps;

  constructor(
    runs: GroupRuns<Option, Closed>,
    groups: Pick<EventGroups<OptionsOf<Option>, unknown, Closed>, 'take' | 'complete'>,
    stage: FlowStage,
    deps: EventGroupTimersDeps,
  ) {
    this.#runs = runs;
    this.#groups = groups;
    this.#stage = stage;
    this.#deps = deps;
  }

  async handle({ kind, env, functionId, partition, at }: EventGroupTimer): Promise<void> {
    const { functions, timerChecks, groupRunStarter } = this.#deps;
    if (!(await groupRunStarter.exists(env))) return;
    const fn = (await functions.of(env)).find(functionId);
    const options = this.#optionsOf(fn);
    const taken = await this.#groups.take(partition, env, functionId, options, at);
    let wanted = taken.timerChecks;
    if (taken.closed.length > 0) {
      if (fn) await this.#start(env, fn, taken.closed);
      wanted = (await this.#groups.complete(partition, env, functionId, options, taken.closed)).timerChecks;
    }
    await timerChecks.set(kind, env, functionId, wanted);
  }

  async #start(env: string, fn: AppFunction, closed: readonly Closed[]): Promise<void> {
    const { eventRestorer, groupRunStarter, decisions } = this.#deps;
    const proposals = await this.#runs.proposalsOf(env, fn, closed);
    await eventRestorer.ensure(
      env,
      proposals.flatMap(({ event, batch }) => batch ?? [event.internalId]),
    );
    await groupRunStarter.start(proposals, this.#stage);
    const made = this.#runs.decisionsOf?.(env, fn, closed) ?? [];
    if (made.length > 0) await decisions.add(made);
  }

  #optionsOf(fn: AppFunction | undefined): OptionsOf<Option> {
    const { option, withoutOption } = this.#runs;
    return ((fn && !fn.archived && flowOptionsOf(fn)?.[option]) || withoutOption) as OptionsOf<Option>;
  }
}

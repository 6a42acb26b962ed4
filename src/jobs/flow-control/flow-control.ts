/** Flow control before a run is created decides which requested runs are created, in the order batch, rate limit, idempotency, debounce,
 *  singleton, lane. Limits of concurrency act when a run is about to start (admission.ts). */
import type { Decision, DecisionReason } from '../../model/flow-control/decision.ts';
import { flowOptionsOf } from '../../model/flow-control/function-options.ts';
import type { FlowOptions } from '../../model/flow-control/options.ts';
import { Composed } from '../../model/values/composed.ts';
import type { RunStatuses } from '../../store/runs/run-statuses.ts';
import { type FlowKeys, sourceOf } from './flow-keys.ts';
import type { FlowStage, RunProposal } from './run-proposal.ts';
import type { RunToStart } from './run-to-start.ts';

export interface DecisionLog {
  add(decisions: readonly Decision[]): Promise<void>;
  /** The stored decision about the proposal; undefined if no decision is stored. */
  find(proposal: RunProposal): Promise<Decision | undefined>;
}

/** An event with one of these decisions has no run. Decisions of event groups are missing: adding an event to its group again does
 *  nothing. */
const REFUSALS: ReadonlySet<DecisionReason> = new Set(['rate_limited', 'idempotent', 'singleton', 'superseded']);

export interface Decided {
  runs: RunToStart[];
  /** Decisions about all other proposals. */
  decisions: Decision[];
}

export class FlowControl extends Composed<{
  /** Stages in the order in which they decide. */
  stages: readonly FlowStage[];
  flowKeys: FlowKeys;
  runStatuses: Pick<RunStatuses, 'of'>;
  decisions: DecisionLog;
}> {
  /** Whether flow control has nothing to decide, so that each proposal becomes a run unchanged. */
  passesAll(proposals: readonly RunProposal[]): boolean {
    return !proposals.some(optionsOf);
  }

  /** @returns the runs to start; all other proposals get a decision */
  async decide(proposals: readonly RunProposal[]): Promise<RunToStart[]> {
    return (await this.decideAll(proposals)).runs;
  }

  /** Like `decide`, and also returns the decisions, for callers that report why a run does not start. */
  async decideAll(proposals: readonly RunProposal[]): Promise<Decided> {
    if (this.passesAll(proposals)) return { runs: [...proposals], decisions: [] };
    return this.#pass(proposals, this.deps.stages);
  }

  /** Continues with the stages after the stage that held these proposals back. If the process dies before the stages before it have taken
   *  back what they did, the repeat finds the stored refusals: a proposal that is decided again needs its claims. */
  async resume(proposals: readonly RunProposal[], after: FlowStage): Promise<RunToStart[]> {
    const { stages } = this.deps;
    const index = stages.indexOf(after);
    const { runs, decisions } = await this.#pass(proposals, stages.slice(index + 1));
    const passed = stages.slice(0, index).map((stage) => ({ stage, admitted: divided(proposals, stage)[1] }));
    await takeBack(passed, decisions);
    return runs;
  }

  async #pass(proposals: readonly RunProposal[], stages: readonly FlowStage[]): Promise<Decided> {
    const { decisions } = this.deps;
    const { undecided, refused } = await this.#decidedBefore(proposals);
    let rest: readonly RunProposal[] = undecided;
    const made: Decision[] = [];
    const passed: { stage: FlowStage; admitted: RunProposal[] }[] = [];
    for (const stage of stages) {
      const [others, concerned] = divided(rest, stage);
      if (concerned.length === 0) continue;
      const result = await stage.apply(concerned);
      made.push(...result.decisions);
      await takeBack(passed, result.decisions);
      passed.push({ stage, admitted: result.admitted });
      rest = [...others, ...result.admitted];
    }
    if (made.length > 0) await decisions.add(withBatches(made, proposals));
    return { runs: rest.map((proposal) => this.withKeys(proposal)), decisions: [...refused, ...made] };
  }

  /** Adds the key values that the limits of the run will need. */
  withKeys(proposal: RunProposal): RunToStart {
    const options = flowOptionsOf(proposal.fn);
    const frozen = options && this.deps.flowKeys.freeze(options, sourceOf(proposal));
    const keys = { values: {}, ...proposal.keys, ...frozen };
    return frozen || proposal.keys ? { ...proposal, keys } : proposal;
  }

  /** Finds the decisions of earlier tries, which stay: limits might decide differently now. */
  async #decidedBefore(
    proposals: readonly RunProposal[],
  ): Promise<{ undecided: readonly RunProposal[]; refused: Decision[] }> {
    const repeated = proposals.filter((proposal) => proposal.repeated && optionsOf(proposal));
    if (repeated.length === 0) return { undecided: proposals, refused: [] };
    const { runStatuses, decisions } = this.deps;
    const statuses = await runStatuses.of(repeated.map(({ id, event }) => ({ id, env: event.env })));
    const refusals = new Map<RunProposal, Decision>();
    for (const proposal of repeated) {
      const decision = statuses.has(proposal.id) ? undefined : await decisions.find(proposal);
      if (decision && REFUSALS.has(decision.reason)) refusals.set(proposal, decision);
    }
    const undecided = proposals.flatMap((proposal) => {
      if (refusals.has(proposal)) return [];
      const created = statuses.get(proposal.id);
      return [created ? { ...proposal, created } : proposal];
    });
    return { undecided, refused: [...refusals.values()] };
  }
}

const NO_OPTIONS: FlowOptions = { runConcurrency: [], stepConcurrency: [] };

/** undefined: no stage applies. */
function optionsOf({ fn, event }: RunProposal): FlowOptions | undefined {
  return flowOptionsOf(fn) ?? (event.order && NO_OPTIONS);
}

/** A decision about the run of a batch applies to all its events. */
function withBatches(made: readonly Decision[], proposals: readonly RunProposal[]): readonly Decision[] {
  const batches = new Map(
    proposals.flatMap(({ fn, event, batch }) => (batch ? [[`${event.internalId}/${fn.id}`, batch] as const] : [])),
  );
  if (batches.size === 0) return made;
  return made.flatMap((decision) => {
    const batch = batches.get(`${decision.eventId}/${decision.functionId}`);
    return batch ? batch.map((eventId) => ({ ...decision, eventId })) : [decision];
  });
}

function divided(
  proposals: readonly RunProposal[],
  stage: FlowStage,
): [others: RunProposal[], concerned: RunProposal[]] {
  const others: RunProposal[] = [];
  const concerned: RunProposal[] = [];
  for (const proposal of proposals) {
    const options = proposal.created && !stage.seesCreated ? undefined : optionsOf(proposal);
    (options && stage.appliesTo(options, proposal) ? concerned : others).push(proposal);
  }
  return [others, concerned];
}

/** Undoes what earlier stages did for proposals that a later stage rejected in favor of another run. */
async function takeBack(
  passed: readonly { stage: FlowStage; admitted: RunProposal[] }[],
  decisions: readonly Decision[],
): Promise<void> {
  const refused = new Set(
    decisions.filter(({ reason }) => reason === 'idempotent' || reason === 'singleton').map(keyOf),
  );
  if (refused.size === 0) return;
  for (const { stage, admitted } of passed) {
    const back = admitted.filter(({ event, fn }) =>
      refused.has(keyOf({ eventId: event.internalId, functionId: fn.id })),
    );
    if (back.length > 0) await stage.takeBack?.(back);
  }
}

function keyOf({ eventId, functionId }: Pick<Decision, 'eventId' | 'functionId'>): string {
  return `${eventId}/${functionId}`;
}

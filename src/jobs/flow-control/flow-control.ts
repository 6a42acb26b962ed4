/** Flow control before a run is created decides which requested runs are created, in the order batch, rate limit, idempotency, debounce,
 *  singleton, lane. Limits of concurrency act when a run is about to start (admission.ts). */
import type { Decision, DecisionReason } from '../../model/flow-control/decision.ts';
import { flowOptionsOf } from '../../model/flow-control/function-options.ts';
import type { FlowOptions } from '../../model/flow-control/options.ts';
import { Composed } from '../../model/values/composed.ts';
import type { RunStatuses } from '../../store/runs/run-statuses.ts';
import type { Candidate, FlowStage } from './candidate.ts';
import { type FlowKeys, sourceOf } from './flow-keys.ts';
import type { RunToStart } from './run-to-start.ts';

export interface DecisionLog {
  add(decisions: readonly Decision[]): Promise<void>;
  /** The stored decision about the candidate; undefined if no decision is stored. */
  find(candidate: Candidate): Promise<Decision | undefined>;
}

/** An event with one of these decisions has no run. An event group takes an event again, which does nothing. */
const REFUSALS: ReadonlySet<DecisionReason> = new Set(['rate_limited', 'idempotent', 'singleton', 'superseded']);

export interface FlowControlDeps {
  /** In order. */
  stages: readonly FlowStage[];
  flowKeys: FlowKeys;
  runStatuses: Pick<RunStatuses, 'of'>;
  decisions: DecisionLog;
}

export interface Decided {
  /** The runs to start. */
  runs: RunToStart[];
  /** Decisions about all other proposals. */
  decisions: Decision[];
}

export class FlowControl extends Composed<FlowControlDeps> {
  /** @returns the runs to start; all other candidates get a decision */
  async decide(candidates: readonly Candidate[]): Promise<RunToStart[]> {
    return (await this.decideAll(candidates)).runs;
  }

  /** Like `decide`, and also returns the decisions, for callers that report why a run does not start. */
  async decideAll(candidates: readonly Candidate[]): Promise<Decided> {
    if (!candidates.some(optionsOf)) return { runs: [...candidates], decisions: [] };
    return this.#pass(candidates, this.deps.stages);
  }

  /** Continues with the stages after the stage that held these candidates back. */
  async resume(candidates: readonly Candidate[], after: FlowStage): Promise<RunToStart[]> {
    const { stages } = this.deps;
    return (await this.#pass(candidates, stages.slice(stages.indexOf(after) + 1))).runs;
  }

  async #pass(candidates: readonly Candidate[], stages: readonly FlowStage[]): Promise<Decided> {
    const { decisions } = this.deps;
    const { undecided, refused } = await this.#decidedBefore(candidates);
    let rest: readonly Candidate[] = undecided;
    const made: Decision[] = [];
    const passed: { stage: FlowStage; admitted: Candidate[] }[] = [];
    for (const stage of stages) {
      const [others, concerned] = divided(rest, stage);
      if (concerned.length === 0) continue;
      const result = await stage.apply(concerned);
      made.push(...result.decisions);
      await takeBack(passed, result.decisions);
      passed.push({ stage, admitted: result.admitted });
      rest = [...others, ...result.admitted];
    }
    if (made.length > 0) await decisions.add(withBatches(made, candidates));
    return { runs: rest.map((candidate) => this.withKeys(candidate)), decisions: [...refused, ...made] };
  }

  /** Adds the keys that its limits will need. */
  withKeys(candidate: Candidate): RunToStart {
    const options = flowOptionsOf(candidate.fn);
    const frozen = options && this.deps.flowKeys.freeze(options, sourceOf(candidate));
    const keys = { values: {}, ...candidate.keys, ...frozen };
    return frozen || candidate.keys ? { ...candidate, keys } : candidate;
  }

  /** A decision of an earlier try is kept, because limits might decide differently now. */
  async #decidedBefore(
    candidates: readonly Candidate[],
  ): Promise<{ undecided: readonly Candidate[]; refused: Decision[] }> {
    const repeated = candidates.filter((candidate) => candidate.repeated && optionsOf(candidate));
    if (repeated.length === 0) return { undecided: candidates, refused: [] };
    const { runStatuses, decisions } = this.deps;
    const statuses = await runStatuses.of(repeated.map(({ id, event }) => ({ id, env: event.env })));
    const refusals = new Map<Candidate, Decision>();
    for (const candidate of repeated) {
      const decision = statuses.has(candidate.id) ? undefined : await decisions.find(candidate);
      if (decision && REFUSALS.has(decision.reason)) refusals.set(candidate, decision);
    }
    const undecided = candidates.flatMap((candidate) => {
      if (refusals.has(candidate)) return [];
      const created = statuses.get(candidate.id);
      return [created ? { ...candidate, created } : candidate];
    });
    return { undecided, refused: [...refusals.values()] };
  }
}

const NO_OPTIONS: FlowOptions = { runConcurrency: [], stepConcurrency: [] };

/** undefined: no stage applies. */
function optionsOf({ fn, event }: Candidate): FlowOptions | undefined {
  return flowOptionsOf(fn) ?? (event.order && NO_OPTIONS);
}

/** A decision about the run of a batch applies to all its events. */
function withBatches(made: readonly Decision[], candidates: readonly Candidate[]): readonly Decision[] {
  const batches = new Map(
    candidates.flatMap(({ fn, event, batch }) => (batch ? [[`${event.internalId}/${fn.id}`, batch] as const] : [])),
  );
  if (batches.size === 0) return made;
  return made.flatMap((decision) => {
    const batch = batches.get(`${decision.eventId}/${decision.functionId}`);
    return batch ? batch.map((eventId) => ({ ...decision, eventId })) : [decision];
  });
}

function divided(candidates: readonly Candidate[], stage: FlowStage): [others: Candidate[], concerned: Candidate[]] {
  const others: Candidate[] = [];
  const concerned: Candidate[] = [];
  for (const candidate of candidates) {
    const options = candidate.created && !stage.seesCreated ? undefined : optionsOf(candidate);
    (options && stage.appliesTo(options, candidate) ? concerned : others).push(candidate);
  }
  return [others, concerned];
}

/** Undoes what earlier stages did for an event that is then debounced or batched. */
async function takeBack(
  passed: readonly { stage: FlowStage; admitted: Candidate[] }[],
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

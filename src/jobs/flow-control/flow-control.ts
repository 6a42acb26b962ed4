/** Flow control before a run is created: which of the runs that events ask for are created, in the order batch, rate limit, idempotency, debounce,
 *  singleton. Limits of what runs at the same time act when a run is to start (admission.ts). */
import type { Decision } from '../../model/flow-control/decision.ts';
import { flowOptionsOf } from '../../model/flow-control/function-options.ts';
import type { RunToStart } from '../runs/run-to-start.ts';
import type { Candidate, FlowStage } from './candidate.ts';
import { type FlowKeys, sourceOf } from './flow-keys.ts';

export interface DecisionLog {
  add(decisions: readonly Decision[]): Promise<void>;
}

export interface FlowControlDeps {
  /** In their order. */
  stages: readonly FlowStage[];
  flowKeys: FlowKeys;
  decisions: DecisionLog;
}

export class FlowControl {
  readonly #deps: FlowControlDeps;

  constructor(deps: FlowControlDeps) {
    this.#deps = deps;
  }

  /** @returns the runs to start; about all others there is a decision */
  async decide(candidates: readonly Candidate[]): Promise<RunToStart[]> {
    if (!candidates.some(({ fn }) => flowOptionsOf(fn))) return [...candidates];
    return this.#pass(candidates, this.#deps.stages);
  }

  /** The same for runs that a stage has held back until now: what the stages after it say. */
  async resume(candidates: readonly Candidate[], after: FlowStage): Promise<RunToStart[]> {
    const { stages } = this.#deps;
    return this.#pass(candidates, stages.slice(stages.indexOf(after) + 1));
  }

  async #pass(candidates: readonly Candidate[], stages: readonly FlowStage[]): Promise<RunToStart[]> {
    let rest = candidates;
    const made: Decision[] = [];
    for (const stage of stages) {
      const [others, concerned] = divided(rest, stage);
      if (concerned.length === 0) continue;
      const result = await stage.apply(concerned);
      rest = [...others, ...result.admitted];
      made.push(...result.decisions);
    }
    if (made.length > 0) await this.#deps.decisions.add(withBatches(made, candidates));
    return rest.map((candidate) => this.withKeys(candidate));
  }

  /** With the keys that its limits need when it is to start. */
  withKeys(candidate: Candidate): RunToStart {
    const options = flowOptionsOf(candidate.fn);
    const keys = options && this.#deps.flowKeys.freeze(options, sourceOf(candidate));
    return keys ? { ...candidate, keys } : candidate;
  }
}

/** What is decided about the run of a batch concerns all its events. */
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
    const options = flowOptionsOf(candidate.fn);
    (options && stage.appliesTo(options, candidate) ? concerned : others).push(candidate);
  }
  return [others, concerned];
}

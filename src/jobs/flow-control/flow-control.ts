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
    const { stages, decisions } = this.#deps;
    let rest = candidates;
    const made: Decision[] = [];
    for (const stage of stages) {
      const [others, concerned] = divided(rest, stage);
      if (concerned.length === 0) continue;
      const result = await stage.apply(concerned);
      rest = [...others, ...result.admitted];
      made.push(...result.decisions);
    }
    if (made.length > 0) await decisions.add(made);
    return rest.map((candidate) => this.withKeys(candidate));
  }

  /** With the keys that its limits need when it is to start. */
  withKeys(candidate: Candidate): RunToStart {
    const options = flowOptionsOf(candidate.fn);
    const keys = options && this.#deps.flowKeys.freeze(options, sourceOf(candidate));
    return keys ? { ...candidate, keys } : candidate;
  }
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

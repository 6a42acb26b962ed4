/** Walks a stored run through a candidate: from the first call on, it answers each planned step with the stored result, in the order in which
 *  the steps finished, until the candidate ends or plans nothing that has a result. No call stores anything or runs a step. */
import type { Outcome } from '../../functions/interpret-response.ts';
import type { Memo } from '../../model/runs/memo.ts';
import { isSideEffect, type Op } from '../../model/runs/operation.ts';
import { Composed } from '../../model/values/composed.ts';

export interface StoredSteps {
  /** Hashed IDs of the finished steps in the order of their completion. */
  stack: readonly string[];
  memos: Readonly<Record<string, Memo>>;
}

/** One call of the candidate with these results. */
export type AskCandidate = (steps: StoredSteps) => Promise<Outcome>;

export interface WalkOptions {
  /** Steps that have begun and have no result. */
  open: ReadonlySet<string>;
  /** The walk stops after this number of calls. */
  callsMax: number;
  /** Whether to continue, while results are left, after a step that the run does not have, as if the step had returned the next result. If
   *  the candidate asks for that result later, the step was added; otherwise it may have replaced the step of that result. */
  supposes?: boolean;
}

export type WalkEnd =
  /** The function plans only steps without results. */
  | { kind: 'plans' }
  | { kind: 'completed'; output: string }
  | { kind: 'failed'; error: { name: string; message: string } }
  /** The function has run a step although it was asked to plan only. */
  | { kind: 'executed' }
  /** No app answered. */
  | { kind: 'noResponse' }
  | { kind: 'tooManyCalls' };

export interface Walk {
  end: WalkEnd;
  /** Operations of the steps that the candidate asked for, by ID, in this order. */
  asked: ReadonlyMap<string, Op>;
  /** Finished steps that it never asked for. */
  unused: readonly string[];
  /** Finished steps that it asked for only after later ones. */
  late: readonly string[];
  /** Steps that the run does not have. */
  added: readonly Op[];
  /** Whether it planned these before it had asked for all results. */
  isEarly: boolean;
}

const RAN: ReadonlySet<string> = new Set(['StepRun', 'Step', 'StepError', 'StepFailed']);

export async function walk(steps: StoredSteps, ask: AskCandidate, options: WalkOptions): Promise<Walk> {
  const walker = new Walker({ steps, ask, options });
  const end = await walker.advance();
  const { added } = walker;
  const isEarly = added.length > 0 && walker.hasRest;
  // After a supposition, the walk only shows which results the candidate asks for.
  let last = end;
  while (options.supposes && last.kind === 'plans' && walker.suppose()) last = await walker.advance();
  if (last.kind === 'executed')
    return { end: last, added, isEarly, asked: walker.asked, late: walker.late, unused: [] };
  const isSure = last.kind === 'plans' || last.kind === 'completed';
  return { end, added, isEarly, asked: walker.asked, late: walker.late, unused: isSure ? walker.unused : [] };
}

class Walker extends Composed<{ steps: StoredSteps; ask: AskCandidate; options: WalkOptions }> {
  readonly asked = new Map<string, Op>();
  readonly late: string[] = [];
  /** Results of answered steps, in this order. */
  readonly #results = new Map<string, Memo>();
  /** IDs of steps that the candidate did not ask for when it was their turn. */
  readonly #passedOver = new Set<string>();
  #calls = 0;

  get unused(): string[] {
    return this.deps.steps.stack.filter((id) => !this.asked.has(id));
  }

  /** Steps that the run does not have. */
  get added(): Op[] {
    const { open } = this.deps.options;
    return [...this.asked.values()].filter(({ id }) => !Object.hasOwn(this.deps.steps.memos, id) && !open.has(id));
  }

  /** Whether there are results that the candidate has not asked for. */
  get hasRest(): boolean {
    return this.#rest().length > 0;
  }

  async advance(): Promise<WalkEnd> {
    while (this.#calls++ < this.deps.options.callsMax) {
      const outcome = await this.deps.ask({
        stack: [...this.#results.keys()],
        memos: Object.fromEntries(this.#results),
      });
      const end = endOf(outcome);
      const ops = end?.kind === 'noResponse' ? [] : (outcome.ops ?? []).filter((op) => !isSideEffect(op));
      if (ops.some(({ op }) => RAN.has(op))) return { kind: 'executed' };
      for (const op of ops) {
        if (!this.asked.has(op.id)) this.asked.set(op.id, op);
        if (this.#passedOver.delete(op.id)) this.late.push(op.id);
      }
      if (end) return end;
      if (!this.#answerNext()) return { kind: 'plans' };
    }
    return { kind: 'tooManyCalls' };
  }

  /** Gives the candidate the results of the steps that finished next, up to the first step that it has not asked for. If it has not asked
   *  for the next step, it gets the result of the next step that it has asked for.
   *  @returns whether it has answered any */
  #answerNext(): boolean {
    const rest = this.#rest();
    const first = rest.findIndex((id) => this.asked.has(id));
    if (first === -1) return false;
    for (const id of rest.slice(0, first)) this.#passedOver.add(id);
    for (const id of rest.slice(first)) {
      if (!this.asked.has(id)) break;
      this.#results.set(id, this.deps.steps.memos[id] as Memo);
    }
    return true;
  }

  /** @returns whether there was anything to suppose */
  suppose(): boolean {
    const added = this.added.filter(({ id }) => !this.#results.has(id));
    const rest = this.#rest();
    for (const [i, { id }] of added.entries()) {
      const inPlace = rest[i];
      if (inPlace === undefined) break;
      this.#results.set(id, this.deps.steps.memos[inPlace] as Memo);
    }
    return added.length > 0 && rest.length > 0;
  }

  #rest(): string[] {
    return this.deps.steps.stack.filter((id) => !this.#results.has(id) && !this.#passedOver.has(id));
  }
}

/** @returns undefined if the function has not ended */
export function endOf(outcome: Outcome): WalkEnd | undefined {
  if (outcome.kind === 'steps') return undefined;
  if (outcome.kind === 'completed') return { kind: 'completed', output: outcome.output };
  // An app's error has a summary; the service's own errors have none.
  if (outcome.noResponse || outcome.summary === undefined) return { kind: 'noResponse' };
  const { name, message } = outcome.error;
  return { kind: 'failed', error: { name, message } };
}

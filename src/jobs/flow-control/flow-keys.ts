/** Evaluates the keys of flow control over the event of a run, once. */
import { type EventRecord, recordOf, type Source, triggerEventOf } from '../../model/events/event.ts';
import { tryCompile } from '../../model/expressions/expression.ts';
import { keyDigestOf } from '../../model/flow-control/key-digest.ts';
import { keyTextOf } from '../../model/flow-control/key-text.ts';
import { type FlowOptions, type FrozenKeys, limitKeysOf } from '../../model/flow-control/options.ts';
import { Composed } from '../../model/values/composed.ts';
import type { ExpressionEvaluator } from '../functions/expression-evaluator.ts';
import type { RunProposal } from './run-proposal.ts';

const PRIORITY_MAX_SECONDS = 600;

/** The event of a run, and the function whose expressions are evaluated. */
export interface KeySource {
  env: string;
  functionId: string;
  event: EventRecord;
  source: Source;
  receivedAt: number;
}

type KeyEvaluator = Pick<ExpressionEvaluator, 'valueOf' | 'startTurn' | 'shouldYield' | 'yieldTurn'>;

export class FlowKeys extends Composed<{ evaluator: KeyEvaluator }> {
  /** @param key undefined: no key, so all runs share the limit
   *  @returns the empty text if it cannot be evaluated */
  textOf(key: string | undefined, proposal: RunProposal): string {
    return key === undefined ? '' : keyTextOf(this.valueOf(key, sourceOf(proposal)));
  }

  /** Digest of each proposal's key value, or undefined as for `textsOf`. */
  async digestsOf(
    proposals: readonly RunProposal[],
    keyOf: (proposal: RunProposal) => string | undefined,
  ): Promise<(string | undefined)[]> {
    const texts = await this.textsOf(proposals, keyOf);
    return proposals.map((proposal, i) => {
      const text = texts[i];
      return text === undefined ? undefined : keyDigestOf(proposal.event.env, proposal.fn.id, keyOf(proposal), text);
    });
  }

  /** Each proposal's key value. undefined: the limit does not apply, because the value is false or null (a missing field), or cannot be
   *  evaluated, as the published protocol demands.
   *  @param keyOf the expression; undefined: no key, so all runs share the limit */
  async textsOf(
    proposals: readonly RunProposal[],
    keyOf: (proposal: RunProposal) => string | undefined,
  ): Promise<(string | undefined)[]> {
    const texts: (string | undefined)[] = [];
    this.deps.evaluator.startTurn();
    for (const proposal of proposals) {
      const key = keyOf(proposal);
      const value = key === undefined ? '' : this.valueOf(key, sourceOf(proposal));
      texts.push(value === undefined || value === null || value === false ? undefined : keyTextOf(value));
      if (this.deps.evaluator.shouldYield) await this.deps.evaluator.yieldTurn();
    }
    return texts;
  }

  /** undefined if it cannot be evaluated. */
  override valueOf(source: string, { env, functionId, event, source: origin, receivedAt }: KeySource): unknown {
    const expression = tryCompile(source);
    const scope = { event: triggerEventOf(event, origin) };
    return this.deps.evaluator.valueOf({ env, functionId, source, expression }, scope, receivedAt);
  }

  /** undefined if no limit of the function depends on the event. */
  freeze(options: FlowOptions, source: KeySource): FrozenKeys | undefined {
    const { priority } = options;
    const keys = limitKeysOf(options);
    if (keys.length === 0 && priority === undefined) return undefined;
    const seconds = priority === undefined ? 0 : secondsOf(this.valueOf(priority, source));
    return {
      values: Object.fromEntries(keys.map((key) => [key, keyTextOf(this.valueOf(key, source))])),
      ...(seconds !== 0 && { priority: seconds }),
    };
  }
}

export function sourceOf({ fn, event }: RunProposal): KeySource {
  const { env, source, receivedAt } = event;
  return { env, functionId: fn.id, event: recordOf(event), source, receivedAt };
}

function secondsOf(value: unknown): number {
  const seconds = typeof value === 'bigint' || typeof value === 'number' ? Number(value) : 0;
  return Number.isNaN(seconds) ? 0 : Math.min(Math.max(seconds, -PRIORITY_MAX_SECONDS), PRIORITY_MAX_SECONDS);
}

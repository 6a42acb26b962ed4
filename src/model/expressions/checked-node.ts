/** The parts of cel-js's internals that language.ts, prices.ts, missing-values.ts and event-comparisons.ts hook into. */

export type Handle = (...args: unknown[]) => unknown;

/** A node after cel-js's type check; `handle` receives the values of its operands. */
export interface CheckedNode {
  op: string;
  args: unknown;
  handle?: Handle;
  /** `dyn` for a value of JSON. */
  checkedType?: { name: string };
  meta: { alternate?: CheckedNode; macro?: { macroHasProps?: CheckedNode[] } };
  /** Operands of logical and conditional operators. */
  left?: CheckedNode;
  right?: CheckedNode;
  evaluate(evaluator: Evaluator, node: CheckedNode, context: unknown): unknown;
}

/** The part of cel-js's evaluator that runs nodes. */
export interface Evaluator {
  run(node: CheckedNode, context: unknown): unknown;
  /** Returns the error instead of throwing it. */
  tryEval(node: CheckedNode, context: unknown): unknown;
}

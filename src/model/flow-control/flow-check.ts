/** Checks the flow control of a function that is being registered. */
import { compileProblem } from '../expressions/expression.ts';
import { expected } from '../values/expected.ts';
import { firstProblem, issueText } from '../values/issue-text.ts';
import { batchConflict } from './batch-conflict.ts';
import { type BatchLimits, flowSchemaOf } from './flow-schema.ts';
import { sentOptions, withoutAbsent } from './given-options.ts';

/** Names of the fields that hold expressions, at any depth. */
const EXPRESSIONS: readonly string[] = ['key', 'by', 'if', 'run', 'idempotency'];

/** Yields between expressions, so that callers can pause.
 *  @returns the first problem; undefined if there is none */
export function* checkFlow(
  config: Record<string, unknown>,
  limits: BatchLimits,
): Generator<undefined, string | undefined> {
  const sent = sentOptions(config);
  const given = withoutAbsent(sent);
  if (given === undefined) return undefined;
  const { success, data, error } = flowSchemaOf(limits).safeParse(given, { error: expected });
  if (!success) return firstProblem(error, sent);
  const conflict = batchConflict(data, config);
  if (conflict) return conflict;
  // A run that waits for its turn in a lane does not exist yet, and could not be the active one.
  if (data.order && data.singleton) return 'field "order": got it together with "singleton"; remove one of them';
  for (const { path, source } of expressionsIn(data, [])) {
    const problem = compileProblem(source);
    if (problem) {
      return issueText({ path, message: `a CEL expression over \`event\`; it is not valid: ${problem}` }, sent);
    }
    yield undefined;
  }
  return undefined;
}

function* expressionsIn(value: object, path: readonly string[]): Generator<{ path: string[]; source: string }> {
  for (const [name, part] of Object.entries(value)) {
    if (typeof part === 'string' && EXPRESSIONS.includes(name)) yield { path: [...path, name], source: part };
    else if (typeof part === 'object' && part !== null) yield* expressionsIn(part, [...path, name]);
  }
}

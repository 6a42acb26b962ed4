/** The result of an invoking step: that of the invoked run. */
import { isShallowJson, MAX_DEPTH } from '../values/json.ts';
import type { Memo } from './memo.ts';
import type { Run } from './run.ts';
import { withoutSource } from './run-error.ts';

export function invocationResult({ id, status, output = 'null', error }: Run): Memo {
  if (status === 'Completed') return outputOf(id, output);
  if (error) return { error: withoutSource(error) };
  return { error: { name: 'InvokedRunCancelled', message: `the invoked run ${id} was cancelled` } };
}

/** Responses are checked for MAX_DEPTH; a deeper output, stored by an earlier version, must not block its invoker. */
function outputOf(runId: string, output: string): Memo {
  try {
    if (isShallowJson(output)) return { data: JSON.parse(output) };
  } catch {
    // Reported below.
  }
  const message = `the output of the invoked run ${runId} is not JSON, or nested deeper than ${MAX_DEPTH} levels`;
  return { error: { name: 'OutputUnreadable', message } };
}

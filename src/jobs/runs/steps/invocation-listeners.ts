/** Functions and waits that listen to invocations of others, through the event `inngest/function.invoked`. */

import { type Envelope, type EventRecord, recordOf, triggerEventOf } from '../../../model/events/event.ts';
import { FUNCTION_INVOKED } from '../../../model/events/lifecycle.ts';
import { runIdOf } from '../../../model/runs/run.ts';
import { Composed } from '../../../model/values/composed.ts';
import { isJsonObject } from '../../../model/values/json.ts';
import type { Store } from '../../../store/store.ts';
import type { RunProposal } from '../../flow-control/run-proposal.ts';
import type { ExpressionEvaluator } from '../../functions/expression-evaluator.ts';
import type { FunctionTables } from '../../functions/function-tables.ts';
import { triggeredFunctions } from '../../functions/triggered-functions.ts';
import type { WaitMatcher } from './wait-matcher.ts';

export interface InvocationListenersDeps extends Pick<Store, 'ids' | 'waits'> {
  functions: FunctionTables;
  evaluator: ExpressionEvaluator;
  waitMatcher: WaitMatcher;
}

export class InvocationListeners extends Composed<InvocationListenersDeps> {
  /** Runs of functions that listen. A function whose only trigger is `inngest/function.invoked` without an expression
   *  only declares that it can be invoked: it does not run when other functions are invoked.
   *  @param invokedId function that the event invokes */
  async runsFor(event: Envelope, invokedId: string, dueAt: number): Promise<RunProposal[]> {
    const { ids, functions, evaluator } = this.deps;
    const table = await functions.of(event.env);
    if (!table.isTrigger(FUNCTION_INVOKED)) return [];
    const runs: RunProposal[] = [];
    const { env, receivedAt, source } = event;
    const read = () => triggerEventOf(recordOf(event), source);
    for await (const fn of triggeredFunctions(table, { env, name: FUNCTION_INVOKED, receivedAt, read }, evaluator)) {
      const listens =
        fn.id !== invokedId &&
        !fn.triggers.some((trigger) => trigger.event === FUNCTION_INVOKED && !trigger.expression);
      if (listens) runs.push({ id: runIdOf(ids, event.internalId, fn.id), fn, event, dueAt, cause: 'event' });
    }
    await evaluator.reportSkipped();
    return runs;
  }

  /** @param event an event in the index */
  async matchWaits(event: Envelope): Promise<void> {
    const { waits, waitMatcher } = this.deps;
    if (await waits.areAny(event.env, event.name)) await waitMatcher.matchEvents([event]);
  }
}

/** Whether a run listens to an invocation and is not the invoked run. Its own invocations are not reported to listeners, because it would listen
 *  to itself forever. */
export function isListening(functionId: string, cause: EventRecord | undefined): boolean {
  if (cause?.name !== FUNCTION_INVOKED) return false;
  const { _inngest } = cause.data;
  return isJsonObject(_inngest) && typeof _inngest.fn_id === 'string' && _inngest.fn_id !== functionId;
}

/** Restores waits that a failover has lost and that are in another partition than their run, from the run's pending steps and its function's
 *  cancel triggers. Events received since the waits began are looked up. A wait whose expression the run stores only in part is not restored. */
import { expressionEventOf } from '../../../model/events/event.ts';
import { awaitedBy, isWhole, type Pending } from '../../../model/runs/memo.ts';
import type { Run } from '../../../model/runs/run.ts';
import type { NewWait } from '../../../store/runs/waits.ts';
import type { Store } from '../../../store/store.ts';
import type { FunctionTables } from '../../functions/function-tables.ts';
import { cancelWait } from '../cancel-triggers.ts';
import { waitOfStep } from '../operations/wait.ts';
import type { WaitMatcher } from './wait-matcher.ts';

export interface RestoreWaitsDeps extends Pick<Store, 'events' | 'waits' | 'signals'> {
  functions: FunctionTables;
  waitMatcher: Pick<WaitMatcher, 'matchPastEvents'>;
}

/** @param pending pending steps of the run, by ID */
export async function restoreWaits(
  run: Run,
  pending: ReadonlyMap<string, Pending>,
  deps: RestoreWaitsDeps,
  nowMs: number,
): Promise<void> {
  const { env, id: runId } = run;
  const isRemote = (name: string) => deps.waits.areRemote(env, runId, name);
  for (const [stepId, step] of pending) {
    const signal = step.op === 'WaitForSignal' ? awaitedBy(step) : undefined;
    if (signal === undefined || !isRemote(signal)) continue;
    await deps.signals.add({ env, runId, stepId, signal, until: step.until, replaces: false }, nowMs);
  }
  const waiting = [...pending].flatMap(([stepId, step]) => {
    const eventName = step.op === 'WaitForEvent' ? awaitedBy(step) : undefined;
    const isLost = eventName !== undefined && isRemote(eventName) && isWhole(step.expression ?? '');
    return isLost ? [{ stepId, step, eventName }] : [];
  });
  const fn = await deps.functions.find(env, run.functionId);
  const isCancelApart = fn?.cancel.some(({ event }) => isRemote(event)) ?? false;
  if (waiting.length === 0 && !isCancelApart) return;
  const event = await deps.events.record(env, run.eventId);
  if (!event) return;
  const caused = expressionEventOf(event);
  const steps = waiting.map(({ stepId, step, eventName }) => {
    const { expression, until } = step;
    return { wait: waitOfStep(run, stepId, { eventName, expression, until }, caused), sinceMs: step.since };
  });
  const starting = { id: runId, event: { env, internalId: run.eventId, receivedAt: event.received_at } };
  const cancels = (fn?.cancel ?? []).map((trigger, i) => {
    const context = { nowMs: run.queuedAt, payload: trigger.expression ? caused : undefined };
    return {
      wait: cancelWait(trigger, i, { ...starting, fn: fn as NonNullable<typeof fn> }, context),
      sinceMs: event.received_at,
    };
  });
  await lookBack(run, [...steps, ...cancels], deps, nowMs);
}

async function lookBack(
  { env, id }: Run,
  all: readonly { wait: NewWait; sinceMs: number }[],
  { waits, waitMatcher }: RestoreWaitsDeps,
  nowMs: number,
): Promise<void> {
  const known = all.map(({ wait }) => wait);
  const restored = new Set(await waits.restore(env, id, known, nowMs));
  for (const { wait, sinceMs } of all) {
    if (restored.has(wait)) await waitMatcher.matchPastEvents(env, wait.eventName, [wait], sinceMs);
  }
}

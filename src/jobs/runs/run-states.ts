/** States of runs: what holds them back, what they wait for, and until when. Reads any number of runs in three pipelines, without outputs
 *  or memos. */

import { type Limit, limitsOf } from '../../model/flow-control/limits.ts';
import type { PartitionedIds } from '../../model/partitions/partitioned-ids.ts';
import { awaitedBy, type Pending, requestsOutside } from '../../model/runs/memo.ts';
import type { Pause } from '../../model/runs/pause.ts';
import { hasEnded, invokedRunId, type Run } from '../../model/runs/run.ts';
import { chosenState, type RunState, type RunStateKind } from '../../model/runs/run-state.ts';
import { Composed } from '../../model/values/composed.ts';
import type { BacklogPosition } from '../../store/flow-control/limit-usage.ts';
import type { PendingSteps } from '../../store/runs/pending-steps.ts';
import type { Store } from '../../store/store.ts';
import type { FunctionTables } from '../functions/function-tables.ts';
import { type CallRef, entryOf } from '../queues/call-ref.ts';
import type { DelayedJob, DelayedJobs } from './scheduling/delayed-jobs.ts';

/** The next call of a run, or the request of one of its steps. */
interface NextCall {
  ref: CallRef;
  step?: { id: string; name: string };
  /** The backlog of the call, if limits apply. */
  backlogEntry?: { home: string; backlog: string; entry: string; limits: Limit[] } | undefined;
}

interface SeenCall extends NextCall {
  position: BacklogPosition | undefined;
  delayed: DelayedJob | undefined;
}

export class RunStates extends Composed<{
  ids: PartitionedIds;
  steps: Pick<Store['steps'], 'progressOf'>;
  limitUsage: Store['limitUsage'];
  functions: FunctionTables;
  environmentKinds: Pick<Store['environmentKinds'], 'of'>;
  delayedJobs: DelayedJobs;
  capacity: () => number;
}> {
  /** The result is keyed by run ID.
   *  @param runs runs of one environment */
  async of(runs: readonly Run[]): Promise<Map<string, RunState>> {
    const ended = runs.flatMap((run) => (hasEnded(run) ? [[run.id, endedState(run)] as const] : []));
    const active = runs.filter((run) => !hasEnded(run));
    return new Map([...ended, ...(active.length > 0 ? await this.#ofActive(active) : [])]);
  }

  async #ofActive(runs: readonly Run[]): Promise<[string, RunState][]> {
    const { ids, limitUsage: usage, delayedJobs } = this.deps;
    const steps = await this.deps.steps.progressOf(runs);
    const calls = await this.#nextCallsOf(runs, steps);
    const all = calls.flat();
    const backlogEntries = all.flatMap(({ backlogEntry }) => backlogEntry ?? []);
    const [positions, delayed] = await Promise.all([
      usage.positionsOf(backlogEntries),
      delayedJobs.of(all.map(({ ref }) => ref)),
    ]);
    const positionOf = new Map(backlogEntries.map((backlogEntry, i) => [backlogEntry, positions[i]]));
    const delayOf = new Map(all.map((call, i) => [call, delayed[i]]));
    return runs.map((run, i) => {
      const seen = (calls[i] as NextCall[]).map((call) => ({
        ...call,
        position: call.backlogEntry && positionOf.get(call.backlogEntry),
        delayed: delayOf.get(call),
      }));
      return [run.id, activeState(ids, run, steps[i] as PendingSteps, seen)];
    });
  }

  async #nextCallsOf(runs: readonly Run[], steps: readonly PendingSteps[]): Promise<NextCall[][]> {
    const { functions, environmentKinds, capacity } = this.deps;
    const [{ env } = { env: '' }] = runs;
    // Read once, so that a deleted function is not looked up for each of its runs.
    const table = await functions.recent(env);
    const isBranch = (await environmentKinds.of(env)) === 'branch';
    return runs.map((run, i) => {
      const fn = table.find(run.functionId);
      const { id: runId, keys, startedAt, queuedAt } = run;
      const isStart = startedAt === undefined;
      const found = fn && limitsOf({ env, isBranch, fn, keys, isStart, queuedAt, capacity: capacity() });
      return nextCallsOf(runId, steps[i] as PendingSteps).map((call) => ({
        ...call,
        backlogEntry: found && !call.ref.request ? { ...found, entry: entryOf(call.ref) } : undefined,
      }));
    });
  }
}

function endedState({ status }: Run): RunState {
  return { kind: status.toLowerCase() as RunStateKind };
}

function nextCallsOf(runId: string, { pending, done }: PendingSteps): NextCall[] {
  const ofSteps = [...pending].flatMap(([stepId, step]): NextCall[] => {
    const request = requestsOutside(step);
    if (step.op !== 'StepPlanned' && !request) return [];
    return [{ ref: { runId, stepId, request }, step: { id: stepId, name: step.name } }];
  });
  return [{ ref: { runId, finishedSteps: done } }, ...ofSteps];
}

function activeState(
  ids: PartitionedIds,
  run: Run,
  { pending, unread }: PendingSteps,
  [ofRun, ...ofSteps]: SeenCall[],
): RunState {
  if (run.pause) return pausedState(run.pause);
  const next = ofRun && callState(run, ofRun);
  const states = [
    ...(next && (pending.size === 0 || next.kind === 'held' || next.kind === 'retrying') ? [next] : []),
    ...ofSteps.map((call) => callState(run, call)),
    ...[...pending].flatMap(([stepId, step]) => waitState(ids, run, stepId, step) ?? []),
  ];
  return chosenState(states, unread) ?? { kind: 'running' };
}

/** The waits of other steps do not matter: they cannot make a paused run continue. */
function pausedState({ reason, since, step }: Pause): RunState {
  return { kind: 'paused', reason, since, ...(step && { step }) };
}

function callState({ startedAt }: Run, { ref, step, backlogEntry, position, delayed }: SeenCall): RunState {
  const ofStep = step && { step };
  if (position) {
    const limit = backlogEntry?.limits.find(({ id }) => id === position.blockedBy);
    return { kind: 'held', position: position.ahead + 1, ...(limit && { limit }), ...ofStep };
  }
  if (delayed && delayed.attemptsMade > 0) {
    const { until, attemptsMade, attempts } = delayed;
    return { kind: 'retrying', until, attempt: { next: attemptsMade + 1, max: attempts }, ...ofStep };
  }
  if (ref.request) return { kind: 'requesting', ...ofStep };
  // A job that was tried before is deferred for lack of capacity: its due time is not when the run starts.
  if (startedAt === undefined) return { kind: 'queued', ...(delayed && !delayed.wasTried && { until: delayed.until }) };
  return { kind: 'running', ...ofStep };
}

/** State of a step that ends without a call. */
function waitState(ids: PartitionedIds, { id: runId }: Run, stepId: string, step: Pending): RunState | undefined {
  if (step.beginning) return undefined;
  const { op, name, until, invokes } = step;
  const shared = { step: { id: stepId, name }, ...(until !== undefined && { until }) };
  const awaited = awaitedBy(step);
  switch (op) {
    case 'Sleep':
      return { kind: 'sleeping', ...shared };
    case 'WaitForEvent':
      return { kind: 'waiting_for_event', ...(awaited && { name: awaited }), ...shared };
    case 'WaitForSignal':
      return { kind: 'waiting_for_signal', ...(awaited && { name: awaited }), ...shared };
    case 'InvokeFunction': {
      const invoked = { ...(invokes && { functionId: invokes }), runId: invokedRunId(ids, runId, stepId) };
      return { kind: 'invoking', invoked, ...shared };
    }
    default:
      return undefined;
  }
}

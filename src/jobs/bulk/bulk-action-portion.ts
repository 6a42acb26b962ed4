/** One portion of a bulk action: selects the next runs, stores the plan, carries it out, and saves the position. After a worker's death the
 *  portion is repeated: cancelling or moving twice changes nothing; a run that was waiting or paused when it was selected, and no longer
 *  is, was retried or resumed; a re-run has the stored ID. */

import { ServiceError } from '../../errors.ts';
import type { History } from '../../history/history.ts';
import {
  type BulkAction,
  type BulkActionDefinition,
  type BulkActionKind,
  type BulkPortion,
  type BulkResult,
  type BulkSkipReason,
  SKIPPED,
} from '../../model/runs/bulk-action.ts';
import type { CancelReason } from '../../model/runs/cancel-reason.ts';
import { hasEnded, type Run } from '../../model/runs/run.ts';
import { chunksOf } from '../../model/values/chunks.ts';
import { countsOf } from '../../model/values/counting.ts';
import type { BulkStore } from '../../store/bulk/store.ts';
import { failedStepOf } from '../runs/changes/rerun-from-step.ts';
import type { RunRetries } from '../runs/changes/run-retries.ts';
import type { RunMoves } from '../runs/changes/version-moves.ts';
import type { RunTransitions } from '../runs/state-transitions.ts';
import type { RerunSkip, Reruns } from './reruns.ts';
import type { SelectedRuns } from './selected-runs.ts';

const RUNS_MAX = 100;
/** Number of portions per second of re-runs. */
const PORTIONS_PER_SECOND = 4;
const SELECT_MS = 2_000;
/** Actions that call no app, and so have no rate. */
const CALLS_NO_APP: ReadonlySet<BulkActionKind> = new Set(['cancel', 'move']);
/** Number of runs cancelled concurrently. */
const AT_ONCE = 10;
const REASONS_OF_ERRORS = [
  'function_archived',
  'event_gone',
  'run_active',
  'version_unknown',
] as const satisfies readonly BulkSkipReason[];

type PlannedRun = BulkPortion['runs'][number];

export interface BulkPortionDeps {
  bulkActions: BulkStore['bulkActions'];
  selectedRuns: SelectedRuns;
  transitions: Pick<RunTransitions, 'cancel'>;
  retries: Pick<RunRetries, 'nextRerun' | 'startRerun' | 'isWaiting' | 'retryNow' | 'resume' | 'historyOf'>;
  runMoves: Pick<RunMoves, 'move'>;
  history: Pick<History, 'runs'>;
  reruns: Pick<Reruns, 'of'>;
}

/** @returns milliseconds until the next portion */
export async function doBulkAction(action: BulkAction, deps: BulkPortionDeps): Promise<number> {
  const begunAt = performance.now();
  const portion = (action.planned as BulkPortion | undefined) ?? (await planPortion(action, deps));
  if (!portion) return 0;
  const results = await actOn(action, portion, deps);
  const counts = countsOf(results.map(({ skip }) => (skip ? SKIPPED + skip : 'done')));
  await deps.bulkActions.save(action, {
    position: portion.next,
    counts,
    results: results.map((result) => ({ result, isSkipped: result.skip !== undefined })),
    ...(!portion.next && { doneAt: Date.now() }),
  });
  const { action: kind, rate } = action.definition;
  if (CALLS_NO_APP.has(kind)) return 0;
  return Math.max(0, (1_000 * (counts.done ?? 0)) / rate - (performance.now() - begunAt));
}

/** @returns undefined: the action was paused or cancelled, or another worker has taken it over
 *  @throws ServiceError archive_unavailable, searches_full */
async function planPortion(action: BulkAction, deps: BulkPortionDeps): Promise<BulkPortion | undefined> {
  const { definition, position } = action;
  const { action: kind, selection, rate } = definition;
  const limit = CALLS_NO_APP.has(kind)
    ? RUNS_MAX
    : Math.min(RUNS_MAX, Math.max(1, Math.ceil(rate / PORTIONS_PER_SECOND)));
  const page = await deps.selectedRuns.page(selection, position ?? undefined, { limit, timeoutMs: SELECT_MS });
  const isAway = page.stoppedEarly === 'archive_unavailable';
  if (isAway && page.found.length === 0) throw new ServiceError('archive_unavailable');
  const skips = await rerunsOf(action, page.found, deps);
  const runs: PlannedRun[] = [];
  for (const run of page.found) {
    const skip = skips.get(run.id);
    const plan = skip ? { id: run.id, skip } : await planned(definition, run, deps);
    // Another run of this portion has the same re-run.
    const isTaken = plan.rerunId !== undefined && runs.some(({ rerunId }) => rerunId === plan.rerunId);
    runs.push(isTaken ? { id: run.id, skip: 'already_rerun' } : plan);
  }
  const portion: BulkPortion = { runs, ...(page.next && { next: page.next }) };
  return (await deps.bulkActions.plan(action, portion)) ? portion : undefined;
}

/** @returns by ID, why runs that have been re-run already are left out
 *  @throws ServiceError archive_unavailable */
async function rerunsOf({ env, definition }: BulkAction, runs: readonly Run[], { reruns }: BulkPortionDeps) {
  const { action, includeAlreadyRerun, createdAt: sinceMs } = definition;
  if (action !== 'retry' || includeAlreadyRerun) return new Map<string, RerunSkip>();
  return reruns.of(env, runs, { sinceMs, whenUnavailable: 'throw' });
}

async function planned(action: BulkActionDefinition, run: Run, deps: BulkPortionDeps): Promise<PlannedRun> {
  const { id } = run;
  if (action.action === 'retry') return plannedRerun(action, run, deps);
  if (action.action === 'retry_now' && !(await deps.retries.isWaiting(run))) return { id, skip: 'run_not_waiting' };
  if (action.action === 'resume' && !run.pause) return { id, skip: 'run_not_paused' };
  return { id };
}

async function plannedRerun(
  { from }: BulkActionDefinition,
  run: Run,
  { retries }: BulkPortionDeps,
): Promise<PlannedRun> {
  const { id } = run;
  if (!hasEnded(run)) return { id, skip: 'run_active' };
  const fromStepId = from === 'failed_step' ? failedStepOf(await retries.historyOf(run)) : undefined;
  if (from === 'failed_step' && fromStepId === undefined) return { id, skip: 'no_failed_step' };
  const rerun = await retries.nextRerun(run);
  if (rerun.active) return { id, skip: 'run_active' };
  return { id, rerunId: rerun.id, ...(fromStepId !== undefined && { fromStepId }) };
}

async function actOn(action: BulkAction, { runs }: BulkPortion, deps: BulkPortionDeps): Promise<BulkResult[]> {
  const results: BulkResult[] = [];
  for (const some of chunksOf(runs, AT_ONCE)) {
    results.push(...(await Promise.all(some.map((run) => resultOf(action, run, deps)))));
  }
  return results;
}

async function resultOf(action: BulkAction, run: PlannedRun, deps: BulkPortionDeps): Promise<BulkResult> {
  const { id: runId, rerunId } = run;
  const skip = run.skip ?? (await actOnOne(action, run, deps));
  if (skip) return { runId, skip };
  return { runId, ...(rerunId !== undefined && { rerunId }) };
}

/** @returns why the run was skipped; undefined: it was cancelled, re-run, retried, resumed or moved */
async function actOnOne(
  { env, id, definition: { action, version } }: BulkAction,
  run: PlannedRun,
  { transitions, retries, runMoves, history }: BulkPortionDeps,
): Promise<BulkSkipReason | undefined> {
  if (action === 'cancel') {
    const reason: CancelReason = { cause: 'bulk_cancellation', id };
    // The run may be archived already, if a worker cancelled it and died before it counted it.
    const cancelled = (await transitions.cancel(env, run.id, reason)) ?? (await history.runs.read(env, run.id));
    if (!cancelled) return 'run_gone';
    return cancelled.status === 'Cancelled' && cancelled.cancelReason?.id === id ? undefined : 'run_ended';
  }
  try {
    if (action === 'move') return (await runMoves.move(env, run.id, version)) ? undefined : 'run_ended';
    if (action === 'retry_now') return (await retries.retryNow(env, run.id)) ? undefined : 'run_gone';
    if (action === 'resume') return (await retries.resume(env, run.id, Date.now())) ? undefined : 'run_gone';
    const fromStep = run.fromStepId === undefined ? undefined : { id: run.fromStepId };
    const origin = { bulkActionId: id, fromStep };
    const rerun = await retries.startRerun(env, run.id, run.rerunId as string, Date.now(), origin);
    if (!rerun) return 'run_gone';
    // Somebody else has started the re-run since it was planned.
    return rerun.bulkActionId === id ? undefined : 'already_rerun';
  } catch (error) {
    const { code } = error as { code?: string };
    // The run waited or was paused when it was selected, so it was retried or resumed.
    if (code === 'run_not_waiting' || code === 'run_not_paused') return undefined;
    const reason = REASONS_OF_ERRORS.find((known) => known === code);
    if (reason) return reason;
    throw error;
  }
}

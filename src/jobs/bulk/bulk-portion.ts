/** One portion of a bulk action: selects the next runs, registers them, acts on them, and saves how far it is. When a worker dies at any point, the
 *  portion is repeated: cancelling twice changes nothing, and a re-run has the ID that was registered. */

import { ServiceError } from '../../errors.ts';
import type { BulkAction, BulkPortion, BulkSkipReason } from '../../model/runs/bulk-action.ts';
import type { CancelReason } from '../../model/runs/cancel-reason.ts';
import { hasEnded, type Run } from '../../model/runs/run.ts';
import type { BulkActions } from '../../store/runs/bulk-actions.ts';
import type { RunRetries } from '../runs/run-retries.ts';
import type { RunTransitions } from '../runs/state-transitions.ts';
import type { SelectedRuns } from './selected-runs.ts';

const RUNS_MAX = 100;
/** Portions of a second's re-runs. */
const PORTIONS_PER_SECOND = 4;
const SELECT_MS = 2_000;
/** Runs that are cancelled at the same time. */
const AT_ONCE = 10;

export interface BulkPortionDeps {
  bulkActions: BulkActions;
  selectedRuns: SelectedRuns;
  transitions: Pick<RunTransitions, 'cancel'>;
  retries: Pick<RunRetries, 'nextRerun' | 'startRerun'>;
}

/** @returns how long the next portion waits, in milliseconds */
export async function carryOnBulkAction(action: BulkAction, deps: BulkPortionDeps): Promise<number> {
  const { env } = action.selection;
  const begunAt = performance.now();
  const portion = action.portion ?? (await registerPortion(action, deps));
  if (!portion) return 0;
  const results = await actOn(action, portion, deps);
  await deps.bulkActions.change(env, action.id, (current) => saved(current, portion, results));
  if (action.action === 'cancel') return 0;
  const done = results.filter((skip) => skip === undefined).length;
  return Math.max(0, (1_000 * done) / action.rate - (performance.now() - begunAt));
}

/** @returns undefined: it was cancelled, or another worker has gone on
 *  @throws ServiceError archive_unavailable, searches_full */
async function registerPortion(action: BulkAction, deps: BulkPortionDeps): Promise<BulkPortion | undefined> {
  const { id, selection, position, rate } = action;
  const limit =
    action.action === 'cancel' ? RUNS_MAX : Math.min(RUNS_MAX, Math.max(1, Math.ceil(rate / PORTIONS_PER_SECOND)));
  const page = await deps.selectedRuns.page(selection, position, { limit, timeoutMs: SELECT_MS });
  const isAway = page.stoppedEarly === 'archive_unavailable';
  if (isAway && page.found.length === 0) throw new ServiceError('archive_unavailable');
  const runs = [];
  for (const run of page.found) runs.push(action.action === 'cancel' ? { id: run.id } : await plannedRerun(run, deps));
  const portion: BulkPortion = { runs, ...(page.next && { next: page.next }) };
  const registered = await deps.bulkActions.change(selection.env, id, (current) => {
    if (current.status !== 'running' || current.portion || !isSame(current.position, position)) return undefined;
    const { waiting: _, ...rest } = current;
    return { ...rest, portion };
  });
  return registered && portion;
}

async function plannedRerun(run: Run, { retries }: BulkPortionDeps): Promise<BulkPortion['runs'][number]> {
  if (!hasEnded(run)) return { id: run.id, skip: 'run_active' };
  const { id, active } = await retries.nextRerun(run);
  return active ? { id: run.id, skip: 'run_active' } : { id: run.id, rerunId: id };
}

/** @returns for each run why nothing was done with it; undefined: it was cancelled or re-run */
async function actOn(
  action: BulkAction,
  { runs }: BulkPortion,
  deps: BulkPortionDeps,
): Promise<(BulkSkipReason | undefined)[]> {
  const results: (BulkSkipReason | undefined)[] = [];
  for (let at = 0; at < runs.length; at += AT_ONCE) {
    const some = runs.slice(at, at + AT_ONCE);
    results.push(...(await Promise.all(some.map((run) => run.skip ?? actOnOne(action, run, deps)))));
  }
  return results;
}

async function actOnOne(
  { id, action, selection: { env } }: BulkAction,
  run: BulkPortion['runs'][number],
  { transitions, retries }: BulkPortionDeps,
): Promise<BulkSkipReason | undefined> {
  if (action === 'cancel') {
    const reason: CancelReason = { cause: 'bulk_cancellation', id };
    const cancelled = await transitions.cancel(env, run.id, reason);
    if (!cancelled) return 'run_gone';
    return cancelled.status === 'Cancelled' && cancelled.cancelReason?.id === id ? undefined : 'run_ended';
  }
  try {
    const rerun = await retries.startRerun(env, run.id, run.rerunId as string, Date.now());
    return rerun ? undefined : 'run_gone';
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === 'function_archived' || code === 'event_gone' || code === 'run_active') return code;
    throw error;
  }
}

function saved(
  current: BulkAction,
  portion: BulkPortion,
  results: readonly (BulkSkipReason | undefined)[],
): BulkAction | undefined {
  // Another worker has saved it.
  if (!current.portion || !isSamePortion(current.portion, portion)) return undefined;
  const { portion: _, ...rest } = current;
  const skipped = { ...current.skipped };
  for (const reason of results) if (reason) skipped[reason] = (skipped[reason] ?? 0) + 1;
  const done = current.done + results.filter((reason) => reason === undefined).length;
  if (portion.next) return { ...rest, skipped, done, position: portion.next };
  const isDone = current.status === 'running';
  return { ...rest, skipped, done, ...(isDone && { status: 'done' as const, doneAt: Date.now() }) };
}

function isSamePortion(one: BulkPortion, other: BulkPortion): boolean {
  return one.runs[0]?.id === other.runs[0]?.id && isSame(one.next, other.next);
}

function isSame(one: BulkPortion['next'], other: BulkPortion['next']): boolean {
  return one?.id === other?.id && one?.at === other?.at;
}

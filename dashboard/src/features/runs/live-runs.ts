/** How live updates change a list of runs. Pure. */
import type { LiveMessages } from '../../api/types.ts';
import { hasEnded, isOlder, type ListedRun } from './run.ts';
import type { RunPage } from './run-pages.ts';

export type LiveRun = LiveMessages['runs']['runs'][number];

/** Whether a run meets the filters of the list; undefined: the update does not tell. */
export type RunFilter = (run: ListedRun) => boolean | undefined;

/** Data from the message about the event of a new run, for runs that meet the filters only later. */
export type KnownEvents = Map<string, Pick<LiveRun, 'event_name' | 'event_gist'>>;

const MAX_KNOWN_EVENTS = 1_000;

export interface AppliedUpdates {
  pages: RunPage[];
  /** Runs that the list would have, but that were not added. */
  missed: string[];
  /** A run may be missing that the updates do not tell enough of. */
  uncertain: boolean;
}

/** Changes the listed runs, and adds others that meet the filters.
 *  @param add false: no row may move; the runs are counted instead */
export function applyLiveRuns(
  pages: readonly RunPage[],
  updates: readonly LiveRun[],
  { meets, known, add }: { meets: RunFilter; known: KnownEvents; add: boolean },
): AppliedUpdates {
  remember(known, updates);
  const byId = new Map(updates.map((update) => [update.run_id, update]));
  const patched = pages.map((page) => {
    if (!page.runs.some(({ run_id }) => byId.has(run_id))) return page;
    return { ...page, runs: page.runs.flatMap((run) => patchedRow(run, byId, meets, add)) };
  });
  const candidates = [...byId.values()].flatMap((update) => newRow(update, known));
  const wanted = candidates.map((run) => [run, meets(run)] as const);
  const fresh = wanted.filter(([, is]) => is).map(([run]) => run);
  const uncertain = wanted.some(([, is]) => is === undefined);
  if (!add) return { pages: patched, missed: fresh.map(({ run_id }) => run_id), uncertain };
  return { pages: withRuns(patched, fresh), missed: [], uncertain };
}

/** Removes each known run from the updates. */
function patchedRow(run: ListedRun, byId: Map<string, LiveRun>, meets: RunFilter, mayMove: boolean): ListedRun[] {
  const update = byId.get(run.run_id);
  if (!update) return [run];
  byId.delete(run.run_id);
  const changed = patchRun(run, update);
  return mayMove && meets(changed) === false ? [] : [changed];
}

/** Ignores late updates for a run that has ended. */
export function patchRun(run: ListedRun, update: LiveRun): ListedRun {
  if (hasEnded(run) && run.ended_at !== null) return run;
  const { status, state, run_started_at, ended_at, error } = update;
  // The state was that of before.
  const { state: _, ...rest } = run;
  return {
    ...rest,
    status,
    ...(state && { state }),
    run_started_at: run_started_at ?? run.run_started_at,
    ended_at: ended_at ?? run.ended_at,
    error: error === undefined ? run.error : error,
  };
}

function newRow(update: LiveRun, known: KnownEvents): ListedRun[] {
  const { run_id, function_id, event_id, status, state, queued_at, replay_id, error } = update;
  if (queued_at === undefined) return [];
  const run_started_at = update.run_started_at ?? null;
  const ended_at = update.ended_at ?? null;
  const rest = { replay_id: replay_id ?? null, error: error ?? null, ...(state && { state }), ...known.get(run_id) };
  return [{ run_id, function_id, event_id, status, queued_at, run_started_at, ended_at, ...rest }];
}

function remember(known: KnownEvents, updates: readonly LiveRun[]): void {
  for (const { run_id, event_name, event_gist } of updates) {
    if (event_name !== undefined) known.set(run_id, { event_name, ...(event_gist !== undefined && { event_gist }) });
  }
  for (const id of known.keys()) {
    if (known.size <= MAX_KNOWN_EVENTS) return;
    known.delete(id);
  }
}

/** Inserts each run in order; runs older than the loaded runs are left out. */
function withRuns(pages: RunPage[], fresh: readonly ListedRun[]): RunPage[] {
  if (fresh.length === 0) return pages;
  const isWhole = pages.at(-1)?.cursor === undefined;
  const byPage = Map.groupBy(fresh, (run) => {
    const at = pages.findIndex(({ runs }) => runs.length > 0 && isOlder(runs.at(-1) as ListedRun, run));
    return at === -1 && isWhole ? pages.length - 1 : at;
  });
  return pages.map((page, i) => {
    const added = byPage.get(i);
    return added ? { ...page, runs: [...added, ...page.runs].sort((a, b) => (isOlder(a, b) ? 1 : -1)) } : page;
  });
}

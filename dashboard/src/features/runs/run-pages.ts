/** A paged list of runs whose first page stays current. */
import type { Stop } from '../../lib/stop.ts';
import { hasEnded, type ListedRun } from './run.ts';

export interface RunPage {
  runs: readonly ListedRun[];
  cursor: string | undefined;
  /** undefined: the page is complete. */
  stop?: Stop | undefined;
}

/** Merges a refetched first page. Older pages stay, unless the new page does not overlap them: then the list restarts with it. */
export function mergeFirstPage(pages: readonly RunPage[], first: RunPage): RunPage[] {
  const last = first.runs.at(-1);
  if (first.cursor === undefined || !last) return [first];
  const older = pages.map((page) => ({ ...page, runs: page.runs.filter((run) => isOlder(run, last)) }));
  const overlaps = pages.some(({ runs }) => runs.some((run) => !isOlder(run, last)));
  const [head, ...rest] = older;
  if (!overlaps || !head) return [first];
  return [{ ...head, runs: [...first.runs, ...head.runs] }, ...rest];
}

/** Applies status updates. */
export function applyStatuses(
  pages: readonly RunPage[],
  statuses: ReadonlyMap<string, ListedRun['status']>,
): RunPage[] {
  return pages.map((page) => {
    if (!page.runs.some((run) => isStatusChange(run, statuses))) return page;
    const runs = page.runs.map((run) =>
      isStatusChange(run, statuses) ? { ...run, status: statuses.get(run.run_id) as never } : run,
    );
    return { ...page, runs };
  });
}

/** Ignores late updates for a run that has ended. */
function isStatusChange(run: ListedRun, statuses: ReadonlyMap<string, ListedRun['status']>): boolean {
  const status = statuses.get(run.run_id);
  return status !== undefined && status !== run.status && !hasEnded(run);
}

/** Lists are sorted newest first, by time, then by ID. */
function isOlder(run: ListedRun, than: ListedRun): boolean {
  if (run.queued_at !== than.queued_at) return run.queued_at < than.queued_at;
  return run.run_id < than.run_id;
}

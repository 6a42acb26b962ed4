/** A paged list of runs whose first page stays current. */
import type { Stop } from '../../lib/stop.ts';
import { hasEnded, isOlder, type ListedRun } from './run.ts';

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
  const listed = new Map(pages.flatMap(({ runs }) => runs.map((run) => [run.run_id, run])));
  const current = first.runs.map((run) => newerOf(listed.get(run.run_id), run));
  return [{ ...head, runs: [...current, ...head.runs] }, ...rest];
}

/** Updates the listed runs; no row moves. */
export function replaceRuns(pages: readonly RunPage[], { runs }: RunPage): RunPage[] {
  const byId = new Map(runs.map((run) => [run.run_id, run]));
  return pages.map((page) => ({ ...page, runs: page.runs.map((run) => newerOf(run, byId.get(run.run_id))) }));
}

/** A live update may have reported the end of a run since the run was read. */
function newerOf(listed: ListedRun, read: ListedRun | undefined): ListedRun;
function newerOf(listed: ListedRun | undefined, read: ListedRun): ListedRun;
function newerOf(listed: ListedRun | undefined, read: ListedRun | undefined): ListedRun {
  if (!listed || !read) return (read ?? listed) as ListedRun;
  return hasEnded(listed) && !hasEnded(read) ? listed : read;
}

/** A paged list of runs whose first page stays current. */
import type { Stop } from '../../lib/stop.ts';
import { isOlder, type ListedRun } from './run.ts';

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

/** The listed runs as they are now; no row moves. */
export function replaceRuns(pages: readonly RunPage[], { runs }: RunPage): RunPage[] {
  const byId = new Map(runs.map((run) => [run.run_id, run]));
  return pages.map((page) => ({ ...page, runs: page.runs.map((run) => byId.get(run.run_id) ?? run) }));
}

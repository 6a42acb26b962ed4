/** A list of runs that is read page by page and kept up to date at its beginning. */
import { hasEnded, type ListedRun } from './run.ts';

export interface RunPage {
  runs: readonly ListedRun[];
  cursor: string | undefined;
}

/** The list after its first page was read anew. What lies behind that page stays; when so much is new that the two do not meet, the
 *  list begins again with the new page. */
export function mergeFirstPage(pages: readonly RunPage[], first: RunPage): RunPage[] {
  const last = first.runs.at(-1);
  if (first.cursor === undefined || !last) return [first];
  const behind = pages.map(({ runs, cursor }) => ({ cursor, runs: runs.filter((run) => isOlder(run, last)) }));
  const meets = pages.some(({ runs }) => runs.some((run) => !isOlder(run, last)));
  const [head, ...rest] = behind;
  if (!meets || !head) return [first];
  return [{ runs: [...first.runs, ...head.runs], cursor: head.cursor }, ...rest];
}

/** The list after some of its runs have moved on. */
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

/** A run that has ended does not begin again: news of its beginning came late. */
function isStatusChange(run: ListedRun, statuses: ReadonlyMap<string, ListedRun['status']>): boolean {
  const status = statuses.get(run.run_id);
  return status !== undefined && status !== run.status && !hasEnded(run);
}

/** In the order of the list: newest first, by time and then by ID. */
function isOlder(run: ListedRun, than: ListedRun): boolean {
  if (run.queued_at !== than.queued_at) return run.queued_at < than.queued_at;
  return run.run_id < than.run_id;
}

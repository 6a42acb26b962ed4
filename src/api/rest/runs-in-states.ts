/** Pages of runs in given states. Only paused runs have an index, so each page examines a bounded number of runs. */
import type { SearchPage } from '../../history/search-merge.ts';
import type { RunStates } from '../../jobs/runs/run-states.ts';
import { isEnding, RUN_STATUSES, type Run, type RunStatus } from '../../model/runs/run.ts';
import { ACTIVE_STATES, type RunStateKind } from '../../model/runs/run-state.ts';
import type { Position } from '../../store/redis/pagination.ts';

const READ_AT_ONCE = 100;
/** Maximum number of runs examined for one page: about 30 pipelines. */
const EXAMINED_MAX = 1_000;

/** Reads runs with these statuses, starting at a position; undefined: at the newest run. */
type ReadPage = (
  statuses: readonly RunStatus[] | undefined,
  cursor: Position | undefined,
  limit: number,
  isPaused: boolean,
) => Promise<SearchPage<Run>>;

interface StateFilter {
  states: readonly RunStateKind[];
  /** undefined: any state. */
  statuses: readonly RunStatus[] | undefined;
  cursor: Position | undefined;
  limit: number;
}

export async function runsInStates(
  read: ReadPage,
  runStates: RunStates,
  { states, statuses, cursor, limit }: StateFilter,
): Promise<SearchPage<Run>> {
  const possible = RUN_STATUSES.filter((status) => states.some((state) => mayHave(state, status)));
  const wanted = statuses ? possible.filter((status) => statuses.includes(status)) : possible;
  if (wanted.length === 0) return { found: [], next: undefined };
  // The status alone determines the state.
  if (ACTIVE_STATES.every((state) => states.includes(state)) || wanted.every(isEnding))
    return read(wanted, cursor, limit, false);
  const isPaused = states.every((state) => state === 'paused');
  const found: Run[] = [];
  let position = cursor;
  for (let lookedAt = 0; lookedAt < EXAMINED_MAX; lookedAt += READ_AT_ONCE) {
    const page = await read(wanted, position, READ_AT_ONCE, isPaused);
    const stateOf = await runStates.of(page.found);
    for (const run of page.found) {
      if (!states.includes(stateOf.get(run.id)?.kind ?? 'running')) continue;
      found.push(run);
      if (found.length === limit) return { found, next: { at: run.queuedAt, id: run.id } };
    }
    if (page.next === undefined || page.stoppedEarly) return { ...page, found };
    position = page.next;
  }
  return { found, next: position, stoppedEarly: 'time' };
}

function mayHave(state: RunStateKind, status: RunStatus): boolean {
  if (!isEnding(status)) return (ACTIVE_STATES as readonly string[]).includes(state);
  return state === status.toLowerCase();
}

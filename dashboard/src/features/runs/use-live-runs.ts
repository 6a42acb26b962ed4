/** Keeps a list of runs current by live updates, without reading it again. */
import { useCallback, useEffect, useRef, useState } from 'react';
import { useLiveUpdates } from '../../api/live-updates.ts';
import { isAtTop } from '../../lib/scroll.ts';
import { countUnseen, hasUnseen, mergeUnseen, NONE } from '../../lib/unseen-rows.ts';
import { useThrottled } from '../../lib/use-throttled.ts';
import { applyLiveRuns, type KnownEvents } from './live-runs.ts';
import type { ListedRun } from './run.ts';
import { type KnownFunctions, meetsFilters, type RunFilters } from './run-filter.ts';
import { mergeFirstPage, type RunPage, replaceRuns } from './run-pages.ts';

interface LiveRunsOptions {
  filters: RunFilters;
  isLive: boolean;
  keepsPosition: boolean;
  known: KnownFunctions;
  loaded: boolean;
  pages(): readonly RunPage[] | undefined;
  change(to: (pages: readonly RunPage[]) => RunPage[]): void;
  /** Reads the first page. */
  read(): Promise<RunPage>;
}

/** A list that live updates have made longer starts again with its first page. */
const MAX_LIVE_ROWS = 20_000;
/** Interval at which the first rows are read again while there are more changes than messages hold. */
const CATCH_UP_MS = 5_000;

export function useLiveRuns({
  filters,
  isLive,
  keepsPosition,
  known: functions,
  loaded,
  pages,
  change,
  read,
}: LiveRunsOptions) {
  const [unseen, setUnseen] = useState(NONE);
  const unseenNow = useRef(unseen);
  unseenNow.current = unseen;
  const known = useRef<KnownEvents>(new Map());
  const missedWhileLoading = useRef(false);
  const mayAdd = () => !hasUnseen(unseenNow.current) && (!keepsPosition || isAtTop());
  const meets = (run: ListedRun) => meetsFilters(run, filters, functions, Date.now());

  /** Reads the first page. New runs are shown if this does not move rows that the user is reading. */
  const refresh = useThrottled(async () => {
    if (!pages()) return;
    const first = await read();
    if (mayAdd()) change((before) => mergeFirstPage(before, first));
    else change((before) => replaceRuns(before, first));
  });
  const catchUp = useThrottled(async () => {
    if (!pages()) return;
    const first = await read();
    change((before) => replaceRuns(before, first));
  }, CATCH_UP_MS);
  const follow = () => {
    if (isLive) refresh();
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: another list; a cached one may have missed runs
  useEffect(() => {
    setUnseen(NONE);
    follow();
  }, [pages]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the list is there
  useEffect(() => {
    if (loaded && missedWhileLoading.current) follow();
    missedWhileLoading.current = false;
  }, [loaded]);
  useLiveUpdates('hello', () => {
    if (!mayAdd() && isLive) setUnseen((before) => ({ ...before, more: true }));
    follow();
  });
  useLiveUpdates('runs', ({ created, runs: updates }) => {
    const before = pages();
    if (!before) {
      missedWhileLoading.current = true;
      return;
    }
    const listed = updates.filter((update) => update.created).length;
    const dropped = Math.max(0, created - listed);
    const add = isLive && dropped === 0 && mayAdd() && rowsIn(before) < MAX_LIVE_ROWS;
    const applied = applyLiveRuns(before, updates, { meets, known: known.current, add });
    change(() => applied.pages);
    if (!isLive) return;
    const isUnfiltered = Object.values({ ...filters, exclude: undefined }).every((value) => value === undefined);
    const missed = {
      ids: applied.missed,
      others: isUnfiltered ? dropped : 0,
      more: applied.uncertain || (dropped > 0 && !isUnfiltered),
    };
    if (hasUnseen(missed)) setUnseen((former) => mergeUnseen(former, missed));
    if (dropped > 0) catchUp();
    if (rowsIn(before) >= MAX_LIVE_ROWS && mayAdd()) startAnew();
  });

  const startAnew = useCallback(async () => {
    const first = await read();
    change((before) => (rowsIn(before) >= MAX_LIVE_ROWS ? [first] : mergeFirstPage(before, first)));
    setUnseen(NONE);
  }, [read, change]);
  const show = () => {
    window.scrollTo({ top: 0 });
    startAnew().catch(() => undefined);
  };
  const ids = () => pages()?.flatMap(({ runs }) => runs.map(({ run_id }) => run_id)) ?? [];
  return { refresh, show, unseen: hasUnseen(unseen) ? countUnseen(ids(), unseen) : 0, more: unseen.more };
}

function rowsIn(pages: readonly RunPage[]): number {
  return pages.reduce((sum, { runs }) => sum + runs.length, 0);
}

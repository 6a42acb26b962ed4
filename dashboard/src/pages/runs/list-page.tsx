import { getRouteApi } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { useHasAccess } from '../../api/current-user.ts';
import { useEnv } from '../../api/environment.ts';
import { useFunctions } from '../../features/functions/queries.ts';
import { ColumnsMenu } from '../../features/lists/columns-menu.tsx';
import { type ListView, ROW_PX, useDensity, useListView } from '../../features/lists/list-preferences.ts';
import { NewRowsButton } from '../../features/lists/new-rows-button.tsx';
import { SavedViewsMenu } from '../../features/lists/saved-views-menu.tsx';
import { useRunCount } from '../../features/runs/bulk/requests.ts';
import type { ListedRun } from '../../features/runs/run.ts';
import { EXCLUDE, useExcluded } from '../../features/runs/use-excluded.ts';
import { type RunFilters, useRuns } from '../../features/runs/use-runs.ts';
import { refusalOf } from '../../features/search/search-box.tsx';
import { StoppedEarlyNotice } from '../../features/search/stopped-early.tsx';
import { TextResults } from '../../features/search/text-results.tsx';
import { isExpression } from '../../lib/is-expression.ts';
import { Button } from '../../ui/button.tsx';
import { DataTable } from '../../ui/data-table.tsx';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Page } from '../../ui/page.tsx';
import { SelectionBar } from '../../ui/row-selection/selection-bar.tsx';
import { useRowSelection } from '../../ui/row-selection/use-row-selection.ts';
import { useRunColumns } from './columns.tsx';
import { Filters } from './filters.tsx';
import { Histogram } from './histogram.tsx';

const BulkButtons = lazy(() => import('../../features/runs/bulk/bulk-buttons.tsx'));
const RunsEmptyState = lazy(() => import('./empty-state.tsx').then((module) => ({ default: module.RunsEmptyState })));
const VersionSelect = lazy(() =>
  import('../../features/apps/version-select.tsx').then((module) => ({ default: module.VersionSelect })),
);

const route = getRouteApi('/runs');
const LIST = 'runs';

export default function RunsPage() {
  const env = useEnv();
  const search = route.useSearch();
  const { functions } = useFunctions();
  const excluded = useExcluded(functions);
  const filters = filtersOf(search, excluded.size > 0);
  const isText = filters.q !== undefined && !isExpression(filters.q);
  const appOf = (id: string) => functions?.find((fn) => fn.id === id)?.app;
  const list = useRuns(filters, { enabled: !isText, keepsPosition: true, known: { appOf, excluded } });
  const compact = useDensity(LIST) === 'compact';
  const { columns, dialog } = useRunColumns(list.refresh, { canWrite: useHasAccess('write'), compact });
  const view = useListView(LIST, columns);
  const navigate = route.useNavigate();
  const selectRange = (from: number, to: number) => {
    const range = { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
    void navigate({ search: (before) => ({ ...before, ...range }) as never, resetScroll: false });
  };
  return (
    <Page
      title="Runs"
      dense
      actions={
        <>
          {filters.q !== undefined && !isText && (
            <Button icon="retry" busy={list.result.isFetching} onClick={() => void list.result.refetch()}>
              Refresh
            </Button>
          )}
          <SavedViewsMenu list={LIST} params={view.params} />
          <ColumnsMenu view={view} />
        </>
      }
    >
      <Filters error={list.result.error} excludes={excluded.size > 0} />
      {isText ? (
        <TextResults env={env} text={filters.q as string} />
      ) : (
        <>
          <Histogram filters={filters} onSelectRange={selectRange} />
          <Runs filters={filters} list={list} view={view} appOf={appOf} />
        </>
      )}
      {dialog}
    </Page>
  );
}

interface RunsProps {
  filters: RunFilters;
  list: ReturnType<typeof useRuns>;
  view: ListView<ListedRun>;
  appOf(functionId: string): string | undefined;
}

function Runs({ filters, list, view, appOf }: RunsProps) {
  const navigate = route.useNavigate();
  const { runs, stop, loadMore, goOn, result } = list;
  const canWrite = useHasAccess('write');
  const env = useEnv();
  const selection = useRowSelection(JSON.stringify([env, filters]));
  const isAny = selection.all || selection.keys.size > 0;
  const { data: total } = useRunCount(env, filters, isAny);
  const selectedApp = selection.all
    ? (filters.app ?? (filters.function && appOf(filters.function)))
    : onlyOne(runs.filter(({ run_id }) => selection.keys.has(run_id)).map(({ function_id }) => appOf(function_id)));
  const open = ({ run_id: id }: ListedRun) => void navigate({ to: '/runs/$id', params: { id } });
  const notice = stop && <StoppedEarlyNotice stop={stop} what="runs" busy={result.isFetchingNextPage} onGoOn={goOn} />;
  if (result.isPending) return <Loading rows={8} />;
  if (result.isError && runs.length === 0) {
    // The search box shows this error.
    if (refusalOf(result.error)) return null;
    return <ErrorAlert error={result.error} onRetry={() => void result.refetch()} />;
  }
  if (runs.length === 0 && notice) return notice;
  if (runs.length === 0)
    return result.isFetching ? (
      <Loading />
    ) : (
      <Suspense fallback={<Loading />}>
        <RunsEmptyState filtered={isFiltered(filters)} excludes={filters.exclude !== undefined} />
      </Suspense>
    );
  return (
    <>
      <NewRowsButton count={list.unseen} more={list.more} what="run" onShow={list.show} />
      <DataTable
        label="Runs"
        columns={view.shown}
        rows={runs}
        rowKey={keyOf}
        onOpen={open}
        onEndReached={loadMore}
        loadingMore={result.isFetchingNextPage}
        rowHeight={ROW_PX[view.density]}
        compact={view.density === 'compact'}
        selectable={canWrite ? { selection, labelOf } : undefined}
      />
      <SelectionBar
        selection={selection}
        nouns={['run', 'runs']}
        matching={total && { count: total.count, isExact: total.is_exact }}
      >
        <Suspense>
          <BulkButtons
            selected={selection.all ? { filters } : { ids: [...selection.keys] }}
            filters={selection.all ? filters : {}}
            versionField={
              selectedApp === undefined
                ? undefined
                : (value, onChange) => <VersionSelect app={selectedApp} from={null} value={value} onChange={onChange} />
            }
            onStarted={selection.clear}
          />
        </Suspense>
      </SelectionBar>
      {notice}
    </>
  );
}

const keyOf = ({ run_id }: ListedRun) => run_id;

/** undefined: they differ. */
function onlyOne(names: readonly (string | undefined)[]): string | undefined {
  return new Set(names).size === 1 ? names[0] : undefined;
}

function labelOf({ function_id, run_id }: ListedRun): string {
  return `run of ${function_id}, ${run_id}`;
}

/** Without parameters that only change the appearance of the list. */
function filtersOf(
  { q, error, fingerprint, status, function: fn, app, from, to, all }: RunFilters & { all?: true | undefined },
  excludes: boolean,
): RunFilters {
  const exclude = excludes && !all && fn === undefined ? EXCLUDE : undefined;
  return { q, error, fingerprint, status, function: fn, app, exclude, from, to };
}

function isFiltered(filters: RunFilters): boolean {
  return Object.values(filters).some((value) => value !== undefined);
}

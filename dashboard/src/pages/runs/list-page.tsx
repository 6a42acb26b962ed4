import { getRouteApi } from '@tanstack/react-router';
import { useHasAccess } from '../../api/current-user.ts';
import { useEnv } from '../../api/environment.ts';
import { BulkButtons } from '../../features/runs/bulk/bulk-buttons.tsx';
import { useRunCount } from '../../features/runs/bulk/requests.ts';
import type { ListedRun } from '../../features/runs/run.ts';
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
import { RunsEmptyState } from './empty-state.tsx';
import { Filters } from './filters.tsx';

const route = getRouteApi('/runs');

export default function RunsPage() {
  const env = useEnv();
  const filters = route.useSearch();
  const isText = filters.q !== undefined && !isExpression(filters.q);
  const list = useRuns(filters, { enabled: !isText });
  return (
    <Page
      title="Runs"
      description="Each execution of a function on an event, newest first."
      actions={
        filters.q !== undefined &&
        !isText && (
          <Button icon="retry" busy={list.result.isFetching} onClick={() => void list.result.refetch()}>
            Refresh
          </Button>
        )
      }
    >
      <Filters error={list.result.error} />
      {isText ? <TextResults env={env} text={filters.q as string} /> : <Runs filters={filters} list={list} />}
    </Page>
  );
}

function Runs({ filters, list }: { filters: RunFilters; list: ReturnType<typeof useRuns> }) {
  const navigate = route.useNavigate();
  const { runs, stop, loadMore, goOn, refresh, result } = list;
  const canWrite = useHasAccess('write');
  const { columns, dialog } = useRunColumns(refresh, canWrite);
  const env = useEnv();
  const selection = useRowSelection(JSON.stringify([env, filters]));
  const isAny = selection.all || selection.keys.size > 0;
  const { data: total } = useRunCount(env, filters, isAny);
  const open = ({ run_id: id }: ListedRun) => void navigate({ to: '/runs/$id', params: { id } });
  const notice = stop && <StoppedEarlyNotice stop={stop} what="runs" busy={result.isFetchingNextPage} onGoOn={goOn} />;
  if (result.isPending) return <Loading rows={8} />;
  if (result.isError && runs.length === 0) {
    // The search box shows this one.
    if (refusalOf(result.error)) return null;
    return <ErrorAlert error={result.error} onRetry={() => void result.refetch()} />;
  }
  if (runs.length === 0 && notice) return notice;
  if (runs.length === 0) return result.isFetching ? <Loading /> : <RunsEmptyState filtered={isFiltered(filters)} />;
  return (
    <>
      <DataTable
        label="Runs"
        columns={columns}
        rows={runs}
        rowKey={({ run_id }) => run_id}
        onOpen={open}
        onEndReached={loadMore}
        loadingMore={result.isFetchingNextPage}
        rowHeight={52}
        selectable={canWrite ? { selection, labelOf } : undefined}
      />
      <SelectionBar
        selection={selection}
        nouns={['run', 'runs']}
        matching={total && { count: total.count, isExact: total.is_exact }}
      >
        <BulkButtons
          selected={selection.all ? { filters } : { ids: [...selection.keys] }}
          filters={selection.all ? filters : {}}
          onStarted={selection.clear}
        />
      </SelectionBar>
      {notice}
      {dialog}
    </>
  );
}

function labelOf({ function_id, run_id }: ListedRun): string {
  return `run of ${function_id}, ${run_id}`;
}

function isFiltered({ env: _, ...filters }: RunFilters & { env?: unknown }): boolean {
  return Object.values(filters).some((value) => value !== undefined);
}

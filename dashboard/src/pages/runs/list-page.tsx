import { getRouteApi } from '@tanstack/react-router';
import { useHasAccess } from '../../api/current-user.ts';
import type { ListedRun } from '../../features/runs/run.ts';
import { useRuns } from '../../features/runs/use-runs.ts';
import { DataTable } from '../../ui/data-table.tsx';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Page } from '../../ui/page.tsx';
import { useRunColumns } from './columns.tsx';
import { RunsEmptyState } from './empty-state.tsx';
import { Filters } from './filters.tsx';

const route = getRouteApi('/runs');

export default function RunsPage() {
  return (
    <Page title="Runs" description="Each execution of a function on an event, newest first.">
      <Filters />
      <Runs />
    </Page>
  );
}

function Runs() {
  const filters = route.useSearch();
  const navigate = route.useNavigate();
  const { runs, loadMore, refresh, result } = useRuns(filters);
  const { columns, dialog } = useRunColumns(refresh, useHasAccess('write'));
  const open = ({ run_id: id }: ListedRun) => void navigate({ to: '/runs/$id', params: { id } });
  if (result.isPending) return <Loading rows={8} />;
  if (result.isError && runs.length === 0) {
    return <ErrorAlert error={result.error} onRetry={() => void result.refetch()} />;
  }
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
      />
      {dialog}
    </>
  );
}

function isFiltered({ env: _, ...filters }: Record<string, unknown>): boolean {
  return Object.values(filters).some((value) => value !== undefined);
}

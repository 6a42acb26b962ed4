import { useMemo, useState } from 'react';
import { useHasAccess } from '../../api/current-user.ts';
import type { Environment } from '../../api/types.ts';
import { useList } from '../../api/use-list.ts';
import { adminOnlyReason } from '../../ui/admin-only.tsx';
import { Button } from '../../ui/button.tsx';
import { DataTable } from '../../ui/data-table.tsx';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Page } from '../../ui/page.tsx';
import { columnsFor } from './columns.tsx';
import { EnvironmentForm } from './environment-form.tsx';

export default function EnvironmentsPage() {
  const may = useHasAccess('admin');
  const [making, setMaking] = useState(false);
  const {
    rows,
    error,
    loadMore: more,
    loadingMore,
    refetch: again,
  } = useList<Environment>(['environments'], '/v1/environments');
  const columns = useMemo(() => columnsFor(may), [may]);
  return (
    <Page
      title="Environments"
      description="Each has its own events, functions, runs and deduplication IDs."
      actions={
        <Button
          variant="primary"
          icon="plus"
          disabled={!may}
          title={adminOnlyReason(may)}
          onClick={() => setMaking(true)}
        >
          Make one
        </Button>
      }
    >
      {error && !rows && <ErrorAlert error={error} onRetry={again} />}
      {!error && !rows && <Loading />}
      {rows && (
        <DataTable
          label="Environments"
          columns={columns}
          rows={rows}
          rowKey={({ name }) => name}
          onEndReached={more}
          loadingMore={loadingMore}
          rowHeight={52}
        />
      )}
      {making && <EnvironmentForm onClose={() => setMaking(false)} />}
    </Page>
  );
}

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
  const isAdmin = useHasAccess('admin');
  const [creating, setCreating] = useState(false);
  const { rows, error, loadMore, loadingMore, refetch } = useList<Environment>(['environments'], '/v1/environments');
  const columns = useMemo(() => columnsFor(isAdmin), [isAdmin]);
  return (
    <Page
      title="Environments"
      description="Each environment has its own events, functions, runs and deduplication IDs."
      actions={
        <Button
          variant="primary"
          icon="plus"
          disabled={!isAdmin}
          title={adminOnlyReason(isAdmin)}
          onClick={() => setCreating(true)}
        >
          Create environment
        </Button>
      }
    >
      {error && !rows && <ErrorAlert error={error} onRetry={refetch} />}
      {!error && !rows && <Loading />}
      {rows && (
        <DataTable
          label="Environments"
          columns={columns}
          rows={rows}
          rowKey={({ name }) => name}
          onEndReached={loadMore}
          loadingMore={loadingMore}
          rowHeight={52}
        />
      )}
      {creating && <EnvironmentForm onClose={() => setCreating(false)} />}
    </Page>
  );
}

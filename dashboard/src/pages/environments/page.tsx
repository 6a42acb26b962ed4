import { useMemo, useState } from 'react';
import { useMay } from '../../api/current-user.ts';
import type { Environment } from '../../api/types.ts';
import { useList } from '../../api/use-list.ts';
import { reasonFor } from '../../ui/admin-only.tsx';
import { Button } from '../../ui/button.tsx';
import { DataTable } from '../../ui/data-table.tsx';
import { Problem } from '../../ui/error-alert.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Page } from '../../ui/page.tsx';
import { columnsFor } from './columns.tsx';
import { EnvironmentForm } from './environment-form.tsx';

export default function EnvironmentsPage() {
  const may = useMay('admin');
  const [making, setMaking] = useState(false);
  const { rows, error, more, loadingMore, again } = useList<Environment>(['environments'], '/v1/environments');
  const columns = useMemo(() => columnsFor(may), [may]);
  return (
    <Page
      title="Environments"
      lead="Each has its own events, functions, runs and deduplication IDs."
      actions={
        <Button look="primary" icon="plus" disabled={!may} title={reasonFor(may)} onClick={() => setMaking(true)}>
          Make one
        </Button>
      }
    >
      {error && !rows && <Problem error={error} onRetry={again} />}
      {!error && !rows && <Loading />}
      {rows && (
        <DataTable
          label="Environments"
          columns={columns}
          rows={rows}
          rowKey={({ name }) => name}
          onNearEnd={more}
          loadingMore={loadingMore}
          rowHeight={52}
        />
      )}
      {making && <EnvironmentForm onClose={() => setMaking(false)} />}
    </Page>
  );
}

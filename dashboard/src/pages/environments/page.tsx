import { useMemo, useState } from 'react';
import { useHasAccess } from '../../api/current-user.ts';
import type { Environment } from '../../api/types.ts';
import { useList } from '../../api/use-list.ts';
import { adminOnlyReason } from '../../ui/admin-only.tsx';
import { Button } from '../../ui/button.tsx';
import { ListTable } from '../../ui/list-table.tsx';
import { Page } from '../../ui/page.tsx';
import { columnsFor } from './columns.tsx';
import { EnvironmentForm } from './environment-form.tsx';

export default function EnvironmentsPage() {
  const isAdmin = useHasAccess('admin');
  const [creating, setCreating] = useState(false);
  const environments = useList<Environment>(['environments'], '/v1/environments');
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
      <ListTable
        list={environments}
        label="Environments"
        columns={columns}
        rowKey={({ name }) => name}
        rowHeight={52}
      />
      {creating && <EnvironmentForm onClose={() => setCreating(false)} />}
    </Page>
  );
}

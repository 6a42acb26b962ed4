import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useHasAccess } from '../../api/current-user.ts';
import type { App } from '../../api/types.ts';
import { useApps } from '../../features/apps/queries.ts';
import { useRegistrationCommand } from '../../features/apps/registration-command.ts';
import { Button } from '../../ui/button.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Page } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { HeldRegistrations } from './held-registrations.tsx';
import { RegisterDialog } from './register-dialog.tsx';
import { SyncStatus } from './sync-status.tsx';
import { UnsupportedBadge } from './unsupported-fields.tsx';

const COLUMNS: Column<App>[] = [
  { id: 'name', header: 'App', width: 'minmax(0, 2fr)', cell: (app) => <Name app={app} /> },
  {
    id: 'sdk',
    header: 'SDK',
    width: 'minmax(0, 1fr)',
    hideOnMobile: true,
    cell: ({ sdk }) => <span className="block truncate font-mono text-xs">{sdk ?? '–'}</span>,
  },
  {
    id: 'framework',
    header: 'Framework',
    width: '7rem',
    hideOnMobile: true,
    cell: ({ framework }) => framework ?? '–',
  },
  {
    id: 'functions',
    header: 'Functions',
    width: '5rem',
    align: 'right',
    hideOnMobile: true,
    cell: ({ function_count }) => function_count,
  },
  {
    id: 'registered',
    header: 'Registered',
    width: '6rem',
    align: 'right',
    hideOnMobile: true,
    cell: ({ registered_at }) => (
      <span className="text-muted">
        <Time at={registered_at} />
      </span>
    ),
  },
  {
    id: 'sync',
    header: 'Last registration',
    width: '12rem',
    cell: ({ last_sync, unsupported_count }) => (
      <>
        <SyncStatus sync={last_sync} />
        <UnsupportedBadge count={unsupported_count} />
      </>
    ),
  },
];

function Name({ app: { name, url } }: { app: App }) {
  return (
    <>
      <Link to="/apps/$name" params={{ name }} className="block truncate font-medium hover:underline">
        {name}
      </Link>
      <p className="truncate font-mono text-xs text-muted">{url}</p>
    </>
  );
}

export default function AppsPage() {
  const { apps, error, refetch } = useApps();
  const command = useRegistrationCommand();
  const navigate = useNavigate();
  const canWrite = useHasAccess('write');
  const [registering, setRegistering] = useState(false);
  return (
    <Page
      title="Apps"
      description="Programs that host functions. The service calls them over HTTP."
      actions={
        canWrite && (
          <Button variant="primary" icon="plus" onClick={() => setRegistering(true)}>
            Register app
          </Button>
        )
      }
    >
      <HeldRegistrations />
      {error && !apps && <ErrorAlert error={error} onRetry={() => void refetch()} />}
      {!apps && !error && <Loading />}
      {apps?.length === 0 && (
        <EmptyState title="No apps registered" command={command}>
          Start your app, then register its URL with the button above or with this command:
        </EmptyState>
      )}
      {apps && apps.length > 0 && (
        <DataTable
          label="Apps"
          columns={COLUMNS}
          rows={apps}
          rowKey={({ name }) => name}
          rowHeight={56}
          onOpen={({ name }) => void navigate({ to: '/apps/$name', params: { name } })}
        />
      )}
      <RegisterDialog open={registering} onClose={() => setRegistering(false)} />
    </Page>
  );
}

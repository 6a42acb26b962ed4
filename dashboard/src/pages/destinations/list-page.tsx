import { Link, useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useHasAccess } from '../../api/current-user.ts';
import type { Destination, FunctionStats } from '../../api/types.ts';
import DestinationForm from '../../features/destinations/destination-form.tsx';
import { useDestinations, useWebhookNames } from '../../features/destinations/queries.ts';
import SigningSecretDialog from '../../features/destinations/secret.tsx';
import { emptyStats, failureRate, useStats } from '../../features/functions/stats.ts';
import { formatPercent } from '../../lib/format.ts';
import { Button } from '../../ui/button.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Page } from '../../ui/page.tsx';
import { Badge } from '../../ui/status-badge.tsx';

export default function DestinationsPage() {
  const canWrite = useHasAccess('write');
  const [creating, setCreating] = useState(false);
  const [secret, setSecret] = useState<string>();
  return (
    <Page
      title="Destinations"
      description="URLs to which events, or the requests of a webhook, are sent on, with their runs of the last 24 hours."
      actions={
        <Button
          variant="primary"
          icon="plus"
          disabled={!canWrite}
          title={canWrite ? undefined : 'Requires write access'}
          onClick={() => setCreating(true)}
        >
          Create destination
        </Button>
      }
    >
      <List />
      {creating && (
        <DestinationForm onClose={() => setCreating(false)} onCreated={(created) => setSecret(created.secret)} />
      )}
      <SigningSecretDialog secret={secret} onClose={() => setSecret(undefined)} />
    </Page>
  );
}

function List() {
  const navigate = useNavigate();
  const { data, error, refetch } = useDestinations();
  const webhooks = useWebhookNames();
  const stats = useStats();
  const columns = useMemo(() => columnsOf(stats, (id) => webhooks.get(id) ?? id), [stats, webhooks]);
  if (error && !data) return <ErrorAlert error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading />;
  if (data.length === 0) return <NoDestinations />;
  return (
    <DataTable
      label="Destinations"
      columns={columns}
      rows={data}
      rowKey={({ name }) => name}
      rowHeight={52}
      onOpen={({ function_id: id }) => void navigate({ to: '/functions/$id', params: { id } })}
    />
  );
}

function columnsOf(
  stats: ReadonlyMap<string, FunctionStats> | undefined,
  webhookName: (id: string) => string,
): Column<Destination>[] {
  const statsOf = (id: string) => stats && (stats.get(id) ?? emptyStats(id));
  return [
    {
      id: 'name',
      header: 'Name',
      width: 'minmax(7rem, 1fr)',
      cell: ({ name, function_id: id, paused_at }) => (
        <span className="flex min-w-0 items-center gap-2">
          <Link to="/functions/$id" params={{ id }} className="truncate font-medium hover:underline">
            {name}
          </Link>
          {paused_at && (
            <Badge tone="warn" icon="pause">
              paused
            </Badge>
          )}
        </span>
      ),
    },
    {
      id: 'gets',
      header: 'Gets',
      width: 'minmax(0, 1.5fr)',
      hideOnMobile: true,
      cell: ({ events, webhook, filter }) => (
        <>
          <div className="truncate font-mono text-xs">
            {webhook ? `webhook ${webhookName(webhook)}` : events?.join(', ')}
          </div>
          {filter && <div className="truncate font-mono text-xs text-muted">if {filter}</div>}
        </>
      ),
    },
    {
      id: 'url',
      header: 'URL',
      width: 'minmax(0, 2fr)',
      hideOnMobile: true,
      cell: ({ url }) => <span className="block truncate font-mono text-xs text-muted">{url}</span>,
    },
    {
      id: 'volume',
      header: 'Runs, 24 h',
      width: '5.5rem',
      align: 'right',
      hideOnMobile: true,
      cell: ({ function_id: id }) => statsOf(id)?.started.toLocaleString() ?? '–',
    },
    {
      id: 'failures',
      header: 'Failed',
      width: '4rem',
      align: 'right',
      cell: ({ function_id: id }) => <Failures stats={statsOf(id)} />,
    },
  ];
}

function Failures({ stats }: { stats: FunctionStats | undefined }) {
  const share = stats && failureRate(stats);
  if (share === undefined) return <span className="text-muted">–</span>;
  return <span className={share > 0 ? 'font-medium text-bad' : 'text-muted'}>{formatPercent(share)}</span>;
}

function NoDestinations() {
  const command = `curl -X POST ${location.origin}/v1/destinations -H 'content-type: application/json' \\
  -H 'authorization: Bearer <API key>' -d '{"name": "crm", "url": "https://crm.example.com/hooks", "events": ["order/*"]}'`;
  return (
    <EmptyState title="No destinations yet" command={command}>
      Create a destination for an endpoint that has no functions. Or use the API:
    </EmptyState>
  );
}

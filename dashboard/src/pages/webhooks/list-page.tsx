import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useHasAccess } from '../../api/current-user.ts';
import type { Webhook, WebhookStats } from '../../api/types.ts';
import { useLiveRequests, useWebhookStats, useWebhooks } from '../../features/webhooks/queries.ts';
import { scopeLabel } from '../../features/webhooks/scope.ts';
import { Button } from '../../ui/button.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { TextField } from '../../ui/field.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Page } from '../../ui/page.tsx';
import { Badge } from '../../ui/status-badge.tsx';
import { Time } from '../../ui/time.tsx';
import { CreateWebhookDialog } from './create-dialog.tsx';

const route = getRouteApi('/webhooks');

export default function WebhooksPage() {
  const [making, setMaking] = useState(false);
  const mayWrite = useHasAccess('write');
  useLiveRequests();
  return (
    <Page
      title="Webhooks"
      description="Addresses that providers post to. Each has a transform that turns the request into an event."
      actions={
        <Button
          variant="primary"
          icon="plus"
          disabled={!mayWrite}
          title={mayWrite ? undefined : 'Making a webhook needs write access'}
          onClick={() => setMaking(true)}
        >
          New webhook
        </Button>
      }
    >
      <List />
      <CreateWebhookDialog open={making} onClose={() => setMaking(false)} />
    </Page>
  );
}

function List() {
  const { q = '' } = route.useSearch();
  const navigate = useNavigate();
  const webhooks = useWebhooks();
  const stats = useWebhookStats();
  if (webhooks.isPending) return <Loading />;
  if (webhooks.isError) return <ErrorAlert error={webhooks.error} onRetry={() => void webhooks.refetch()} />;
  if (webhooks.data.length === 0) return <NoWebhooks />;
  const wanted = q.toLowerCase();
  const rows = webhooks.data.filter(({ name, environment }) => `${name} ${environment}`.toLowerCase().includes(wanted));
  return (
    <>
      <div className="mb-4 max-w-sm">
        <TextField
          label="Find a webhook"
          hideLabel
          type="search"
          data-page-search
          placeholder="Name or environment"
          value={q}
          onChange={({ target }) =>
            void navigate({
              to: '/webhooks',
              search: (before) => ({ ...before, q: target.value || undefined }) as never,
              replace: true,
            })
          }
        />
      </div>
      {rows.length === 0 ? (
        <EmptyState title="No webhook is called so" />
      ) : (
        <DataTable
          label="Webhooks"
          columns={columnsOf(stats.data)}
          rows={rows}
          rowKey={({ id }) => id}
          rowHeight={52}
          onOpen={({ id }) => void navigate({ to: '/webhooks/$id', params: { id } })}
        />
      )}
    </>
  );
}

function columnsOf(stats: Map<string, WebhookStats> | undefined): Column<Webhook>[] {
  return [
    {
      id: 'name',
      header: 'Name',
      width: 'minmax(9rem, 2fr)',
      cell: ({ id, name, paused_at }) => (
        <span className="flex min-w-0 items-center gap-2">
          <Link to="/webhooks/$id" params={{ id }} className="truncate font-medium hover:underline">
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
      id: 'environment',
      header: 'Environment',
      width: 'minmax(7rem, 1fr)',
      hideOnMobile: true,
      cell: ({ environment }) => <span className="block truncate">{scopeLabel(environment)}</span>,
    },
    { id: 'last', header: 'Last request', width: '7.5rem', cell: ({ id }) => <Last stats={stats?.get(id)} /> },
    {
      id: 'rate',
      header: 'Rejected',
      width: '8.5rem',
      align: 'right',
      hideOnMobile: true,
      cell: ({ id }) => <ErrorRate stats={stats?.get(id)} />,
    },
  ];
}

function Last({ stats }: { stats: WebhookStats | undefined }) {
  return stats?.last_request_at ? <Time at={stats.last_request_at} /> : <span className="text-muted">none yet</span>;
}

/** Of the requests that the log keeps. */
function ErrorRate({ stats }: { stats: WebhookStats | undefined }) {
  if (!stats || stats.requests === 0) return <span className="text-muted">–</span>;
  const { requests, rejected } = stats;
  const title = `${rejected} of the last ${requests} requests were answered an error`;
  if (rejected === 0)
    return (
      <span className="text-muted" title={title}>
        none of {requests}
      </span>
    );
  return (
    <Badge tone="bad" icon="warning" title={title}>
      {percent(rejected / requests)} of {requests}
    </Badge>
  );
}

function percent(share: number): string {
  return share < 0.01 ? '< 1 %' : `${Math.round(share * 100)} %`;
}

function NoWebhooks() {
  const paste = `curl -X POST ${location.origin}/v1/webhooks -H 'content-type: application/json' \\
  -H 'authorization: Bearer <API key>' -d '{"name": "GitHub"}'`;
  return (
    <EmptyState title="No webhook yet" command={paste}>
      Make one here: name it, take a template for its provider, and give the provider its URL. Or by the API:
    </EmptyState>
  );
}

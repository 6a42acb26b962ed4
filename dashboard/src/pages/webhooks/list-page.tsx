import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useHasAccess } from '../../api/current-user.ts';
import type { Provider, Webhook, WebhookStats } from '../../api/types.ts';
import { useLiveIssues, useOpenIssues } from '../../features/webhooks/issues.ts';
import { useProviders } from '../../features/webhooks/providers.ts';
import { useLiveRequests, useWebhookStats, useWebhooks } from '../../features/webhooks/queries.ts';
import { scopeLabel } from '../../lib/environment-scope.ts';
import { formatPercent } from '../../lib/format.ts';
import { Button } from '../../ui/button.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { TextField } from '../../ui/field.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Page } from '../../ui/page.tsx';
import { Badge } from '../../ui/status-badge.tsx';
import { Time } from '../../ui/time.tsx';
import { CHOOSE, CreateWebhookDialog } from './create/create-dialog.tsx';
import { ProviderName } from './provider-name.tsx';

const route = getRouteApi('/webhooks');

export default function WebhooksPage() {
  const { new: step } = route.useSearch();
  const navigate = useNavigate();
  // Changes the page that is open by then: a dialog closes a moment after Escape.
  const setStep = (to: string | undefined) =>
    void navigate({ to: '.', search: (before) => ({ ...before, new: to }) as never });
  const canWrite = useHasAccess('write');
  useLiveRequests();
  useLiveIssues();
  return (
    <Page
      title="Webhooks"
      description="URLs that receive requests from providers. Each request is verified, and a transform turns it into an event."
      actions={
        <Button
          variant="primary"
          icon="plus"
          disabled={!canWrite}
          title={canWrite ? undefined : 'Requires write access'}
          onClick={() => setStep(CHOOSE)}
        >
          Create webhook
        </Button>
      }
    >
      <List />
      {canWrite && <CreateWebhookDialog step={step} onStep={setStep} />}
    </Page>
  );
}

function List() {
  const { q = '' } = route.useSearch();
  const navigate = useNavigate();
  const webhooks = useWebhooks();
  const stats = useWebhookStats();
  const issues = useOpenIssues();
  const providers = new Map(useProviders().data?.map((one) => [one.id, one]));
  if (webhooks.isPending) return <Loading />;
  if (webhooks.isError) return <ErrorAlert error={webhooks.error} onRetry={() => void webhooks.refetch()} />;
  if (webhooks.data.length === 0) return <NoWebhooks />;
  const searchText = q.toLowerCase();
  const providerOf = ({ provider }: Webhook) => providers.get(provider ?? '');
  const rows = webhooks.data.filter((webhook) =>
    `${webhook.name} ${webhook.environment} ${providerOf(webhook)?.name ?? webhook.provider ?? ''}`
      .toLowerCase()
      .includes(searchText),
  );
  return (
    <>
      <div className="mb-4 max-w-sm">
        <TextField
          label="Search webhooks"
          hideLabel
          type="search"
          data-page-search
          placeholder="Name, provider or environment"
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
        <EmptyState title="No matching webhooks" />
      ) : (
        <DataTable
          label="Webhooks"
          columns={columnsOf(stats.data, providerOf, issues.data?.byWebhook)}
          rows={rows}
          rowKey={({ id }) => id}
          rowHeight={52}
          onOpen={({ id }) => void navigate({ to: '/webhooks/$id', params: { id } })}
        />
      )}
    </>
  );
}

function columnsOf(
  stats: Map<string, WebhookStats> | undefined,
  providerOf: (webhook: Webhook) => Provider | undefined,
  openIssues: ReadonlyMap<string, number> | undefined,
): Column<Webhook>[] {
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
          <OpenIssues id={id} count={openIssues?.get(id) ?? 0} />
        </span>
      ),
    },
    {
      id: 'provider',
      header: 'Provider',
      width: 'minmax(10rem, 1.5fr)',
      hideOnMobile: true,
      cell: (webhook) =>
        webhook.provider === null ? (
          <span className="text-muted">none</span>
        ) : (
          <ProviderName webhook={webhook} provider={providerOf(webhook)} />
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

function OpenIssues({ id, count }: { id: string; count: number }) {
  if (count === 0) return null;
  return (
    <Link to="/webhooks/$id" params={{ id }} search={{ tab: 'issues' }} className="rounded-full">
      <Badge tone="bad" icon="warning">
        {count} {count === 1 ? 'issue' : 'issues'}
      </Badge>
    </Link>
  );
}

function Last({ stats }: { stats: WebhookStats | undefined }) {
  return stats?.last_request_at ? <Time at={stats.last_request_at} /> : <span className="text-muted">never</span>;
}

/** Share of rejected requests in the log. */
function ErrorRate({ stats }: { stats: WebhookStats | undefined }) {
  if (!stats || stats.requests === 0) return <span className="text-muted">–</span>;
  const { requests, rejected } = stats;
  const title = `${rejected} of the last ${requests} requests were rejected`;
  if (rejected === 0)
    return (
      <span className="text-muted" title={title}>
        0 of {requests}
      </span>
    );
  return (
    <Badge tone="bad" icon="warning" title={title}>
      {formatPercent(rejected / requests)} of {requests}
    </Badge>
  );
}

function NoWebhooks() {
  const command = `curl -X POST ${location.origin}/v1/webhooks -H 'content-type: application/json' \\
  -H 'authorization: Bearer <API key>' -d '{"name": "Stripe", "provider": "stripe"}'`;
  return (
    <EmptyState title="No webhooks yet" command={command}>
      Create a webhook for your provider, then enter its URL in the provider’s settings. Or use the API:
    </EmptyState>
  );
}

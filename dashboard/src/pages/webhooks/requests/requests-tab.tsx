import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useHasAccess } from '../../../api/current-user.ts';
import type { ListedRequest, Webhook } from '../../../api/types.ts';
import { ColumnsMenu } from '../../../features/lists/columns-menu.tsx';
import { ROW_PX, useListView } from '../../../features/lists/list-preferences.ts';
import { SavedViewsMenu } from '../../../features/lists/saved-views-menu.tsx';
import { useRequests } from '../../../features/webhooks/queries.ts';
import { formatBytes } from '../../../lib/format.ts';
import { Button } from '../../../ui/button.tsx';
import { type Column, DataTable } from '../../../ui/data-table.tsx';
import { EmptyState } from '../../../ui/empty-state.tsx';
import { ErrorAlert } from '../../../ui/error-alert.tsx';
import { Loading } from '../../../ui/loading.tsx';
import { SelectionBar } from '../../../ui/row-selection/selection-bar.tsx';
import { useRowSelection } from '../../../ui/row-selection/use-row-selection.ts';
import { SegmentedControl } from '../../../ui/segmented-control.tsx';
import { duration, Time } from '../../../ui/time.tsx';
import { curlCommand } from '../endpoint-url.tsx';
import { failureLabel } from '../failure-reasons.ts';
import { OUTCOMES, OutcomeBadge, reasonLabel } from '../outcome.tsx';
import { VerificationBadge } from '../verification-badge.tsx';
import type { Draft } from '../workbench/use-draft.ts';
import { ReplayButton, ReplayDialog } from './replay-dialog.tsx';
import { WebhookReplays } from './replays.tsx';
import { RequestDetails } from './request-details.tsx';

const route = getRouteApi('/webhooks/$id');
const FILTERS = [['all', 'All'], ...OUTCOMES.map((outcome) => [outcome, capitalize(outcome)] as const)] as const;
/** Pages are loaded until the filter has this many matches. */
const MIN_ROWS = 25;

/** The request log, or the request that the URL names. */
export default function RequestsTab({ webhook, draft }: { webhook: Webhook; draft: Draft }) {
  const { request } = route.useSearch();
  return request ? <RequestDetails webhook={webhook} requestId={request} /> : <Log webhook={webhook} draft={draft} />;
}

function Log({ webhook, draft }: { webhook: Webhook; draft: Draft }) {
  const { outcome } = route.useSearch();
  const navigate = useNavigate();
  const { rows: all = [], error, hasMore, loadMore, loadingMore, ...requests } = useRequests(webhook.id);
  const canWrite = useHasAccess('write');
  const selection = useRowSelection(`${webhook.id} ${outcome}`);
  const [replaying, setReplaying] = useState<readonly string[]>();
  const rows = outcome ? all.filter((request) => request.outcome === outcome) : all;
  useEffect(() => {
    if (rows.length < MIN_ROWS) loadMore();
  }, [rows.length, loadMore]);
  const view = useListView('webhook-requests', COLUMNS);
  const set = (change: object) =>
    void navigate({ to: '.', search: (before: object) => ({ ...before, ...change }) as never });

  if (error) return <ErrorAlert error={error} onRetry={requests.refetch} />;
  if (requests.pageCount === 0) return <Loading />;
  if (all.length === 0) {
    return (
      <EmptyState title="No requests yet" command={curlCommand(webhook.url)}>
        All requests to the webhook’s URL appear here, including rejected ones with the reason.
      </EmptyState>
    );
  }
  return (
    <>
      <WebhookReplays webhook={webhook} />
      <div className="mb-4 flex flex-wrap items-center justify-between gap-2">
        <SegmentedControl
          label="Outcome"
          options={FILTERS}
          value={outcome ?? 'all'}
          onChange={(id) => set({ outcome: id === 'all' ? undefined : id })}
        />
        <div className="flex flex-wrap gap-2">
          <SavedViewsMenu list="webhook-requests" params={view.params} />
          <ColumnsMenu view={view} />
          <ReplayButton webhook={webhook} draft={draft} given={{ outcome: outcome ?? '' }} />
        </div>
      </div>
      {rows.length === 0 && !hasMore ? (
        <EmptyState title="No results">
          <p className="mb-4">
            None of the last {all.length} requests is {outcome}.
          </p>
          <Button onClick={() => set({ outcome: undefined })}>Clear filters</Button>
        </EmptyState>
      ) : (
        <DataTable
          label="Requests"
          columns={view.shown}
          rows={rows}
          rowKey={keyOf}
          onOpen={({ id }) => set({ request: id })}
          onEndReached={loadMore}
          loadingMore={loadingMore}
          rowHeight={view.density === 'compact' ? ROW_PX.compact : 44}
          compact={view.density === 'compact'}
          selectable={canWrite ? { selection, labelOf } : undefined}
        />
      )}
      <SelectionBar selection={selection} nouns={['request', 'requests']}>
        <Button icon="replay" onClick={() => setReplaying([...selection.keys])}>
          Re-run…
        </Button>
      </SelectionBar>
      {replaying && (
        <ReplayDialog
          webhook={webhook}
          draft={draft}
          given={{ requestIds: replaying }}
          onClose={() => setReplaying(undefined)}
          onStarted={selection.clear}
        />
      )}
    </>
  );
}

const keyOf = ({ id }: ListedRequest) => id;
function labelOf({ event_name, outcome, id }: ListedRequest): string {
  return `request ${id}, ${event_name ?? outcome}`;
}

const COLUMNS: Column<ListedRequest>[] = [
  {
    id: 'outcome',
    header: 'Outcome',
    width: '6.75rem',
    isFixed: true,
    cell: ({ outcome }) => <OutcomeBadge outcome={outcome} />,
  },
  {
    id: 'event',
    header: 'Event or reason',
    isFixed: true,
    width: 'minmax(4rem, 3fr)',
    cell: (request) => <EventOrReason {...request} />,
  },
  {
    id: 'verification',
    header: 'Verified',
    width: '7.5rem',
    hideOnMobile: true,
    cell: ({ verification }) =>
      verification ? <VerificationBadge verification={verification} /> : <span className="text-muted">–</span>,
  },
  { id: 'status', header: 'Status', width: '5rem', align: 'right', hideOnMobile: true, cell: ({ status }) => status },
  {
    id: 'duration',
    header: 'Duration',
    width: '5rem',
    align: 'right',
    hideOnMobile: true,
    cell: ({ duration_ms }) => duration(duration_ms),
  },
  {
    id: 'size',
    header: 'Body',
    width: '5.5rem',
    align: 'right',
    hideOnMobile: true,
    cell: ({ body_bytes }) => (body_bytes === null ? '–' : formatBytes(body_bytes)),
  },
  {
    id: 'at',
    header: 'Received',
    width: '5.5rem',
    align: 'right',
    cell: ({ received_at }) => <Time at={received_at} />,
  },
];

function EventOrReason({
  id,
  event_name,
  outcome,
  reason,
  message,
  ids,
  verification,
  rerun_of,
  recovered,
}: ListedRequest) {
  const why = failureLabel(verification) ?? (reason ? reasonLabel(reason) : noEvent(outcome));
  const label = event_name ?? capitalize(why);
  return (
    <span className="flex min-w-0 items-center gap-2">
      <Link
        to="."
        search={(before: object) => ({ ...before, request: id }) as never}
        title={message ?? undefined}
        className="truncate font-medium hover:underline"
      >
        {label}
      </Link>
      {ids.length > 1 && (
        <span className="hidden text-xs whitespace-nowrap text-muted sm:inline">and {ids.length - 1} more</span>
      )}
      {event_name && reason && (
        <span className="hidden truncate text-xs text-muted sm:inline">{reasonLabel(reason)}</span>
      )}
      {rerun_of && <span className="hidden text-xs whitespace-nowrap text-muted sm:inline">re-run</span>}
      {recovered && <span className="hidden text-xs whitespace-nowrap text-muted sm:inline">recovered</span>}
    </span>
  );
}

function noEvent(outcome: ListedRequest['outcome']): string {
  return outcome === 'handshake' ? 'handshake answered' : 'no event';
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useHasAccess } from '../../../api/current-user.ts';
import type { ListedRequest, Webhook } from '../../../api/types.ts';
import { ColumnsMenu } from '../../../features/lists/columns-menu.tsx';
import { ROW_PX, useListView } from '../../../features/lists/list-preferences.ts';
import { SavedViewsMenu } from '../../../features/lists/saved-views-menu.tsx';
import { masked } from '../../../features/webhooks/masked-url.ts';
import { useRequests } from '../../../features/webhooks/queries.ts';
import { capitalize } from '../../../lib/capitalize.ts';
import { formatBytes, formatCount } from '../../../lib/format.ts';
import { Button } from '../../../ui/button.tsx';
import { type Column, DataTable } from '../../../ui/data-table.tsx';
import { EmptyState } from '../../../ui/empty-state.tsx';
import { ErrorAlert } from '../../../ui/error-alert.tsx';
import { TextField } from '../../../ui/field.tsx';
import { Loading } from '../../../ui/loading.tsx';
import { SelectionBar } from '../../../ui/row-selection/selection-bar.tsx';
import { useRowSelection } from '../../../ui/row-selection/use-row-selection.ts';
import { SegmentedControl } from '../../../ui/segmented-control.tsx';
import { duration, Time } from '../../../ui/time.tsx';
import { TimeFilter } from '../../../ui/time-filter.tsx';
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
  const { outcome, text, from, to } = route.useSearch();
  const navigate = useNavigate();
  const bounds = { from, to };
  const { rows: all = [], error, hasMore, loadMore, loadingMore, ...requests } = useRequests(webhook.id, bounds);
  const isFiltered = Boolean(outcome || text || from || to);
  const canWrite = useHasAccess('write');
  const selection = useRowSelection(JSON.stringify([webhook.id, outcome, text, from, to]));
  const [replaying, setReplaying] = useState<readonly string[]>();
  const rows = all.filter((request) => (!outcome || request.outcome === outcome) && hasText(request, text));
  useEffect(() => {
    if (rows.length < MIN_ROWS) loadMore();
  }, [rows.length, loadMore]);
  const view = useListView('webhook-requests', COLUMNS);
  const set = (change: object, replace = false) =>
    void navigate({ to: '.', search: (before: object) => ({ ...before, ...change }) as never, replace });

  if (error) return <ErrorAlert error={error} onRetry={requests.refetch} />;
  if (requests.pageCount === 0) return <Loading />;
  if (all.length === 0 && !isFiltered) {
    const command = curlCommand(webhook.url);
    return (
      <EmptyState title="No requests yet" command={command} shownCommand={masked(command)}>
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
        <div className="grid grid-cols-2 items-end gap-2 max-sm:w-full sm:flex sm:flex-wrap">
          <TextField
            label="Search requests"
            hideLabel
            type="search"
            data-page-search
            placeholder="Event, reason or ID"
            value={text ?? ''}
            onChange={({ target }) => set({ text: target.value || undefined }, true)}
          />
          <TimeFilter what="Received" from={from} to={to} onChange={set} />
        </div>
        <div className="flex flex-wrap gap-2">
          <SavedViewsMenu list="webhook-requests" params={view.params} />
          <ColumnsMenu view={view} />
          <ReplayButton webhook={webhook} draft={draft} given={{ outcome: outcome ?? '' }} />
        </div>
      </div>
      {rows.length === 0 && !hasMore ? (
        <EmptyState title="No results">
          <p className="mb-4">None of the {formatCount(all.length)} requests in the log matches.</p>
          <Button onClick={() => set({ outcome: undefined, text: undefined, from: undefined, to: undefined })}>
            Clear filters
          </Button>
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

/** Whether what the row shows, or its IDs, have all words. */
function hasText({ id, event_name, ids, reason, message }: ListedRequest, search = ''): boolean {
  const text = [id, event_name, ...ids, reason && reasonLabel(reason), message].join(' ').toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
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

import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useCallback, useEffect } from 'react';
import type { ListedRequest, Webhook } from '../../../api/types.ts';
import { useRequests } from '../../../features/webhooks/queries.ts';
import { type Column, DataTable } from '../../../ui/data-table.tsx';
import { EmptyState } from '../../../ui/empty-state.tsx';
import { ErrorAlert } from '../../../ui/error-alert.tsx';
import { Loading } from '../../../ui/loading.tsx';
import { SegmentedControl } from '../../../ui/segmented-control.tsx';
import { duration, Time } from '../../../ui/time.tsx';
import { curlCommand } from '../endpoint-url.tsx';
import { bytes, OUTCOMES, OutcomeBadge, reasonLabel } from '../outcome.tsx';
import { RequestDetails } from './request-details.tsx';

const route = getRouteApi('/webhooks/$id');
const FILTERS = [['all', 'All'], ...OUTCOMES.map((outcome) => [outcome, capitalize(outcome)] as const)] as const;
/** Rows that a filter should find before the reader is made to scroll for more. */
const MIN_ROWS = 25;

/** The log: the last requests and what became of each; one of them opened, when the address names it. */
export function RequestsTab({ webhook }: { webhook: Webhook }) {
  const { request } = route.useSearch();
  return request ? <RequestDetails webhook={webhook} requestId={request} /> : <Log webhook={webhook} />;
}

function Log({ webhook }: { webhook: Webhook }) {
  const { outcome } = route.useSearch();
  const navigate = useNavigate();
  const requests = useRequests(webhook.id);
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = requests;
  const all = requests.data?.pages.flatMap(({ data }) => data) ?? [];
  const rows = outcome ? all.filter((request) => request.outcome === outcome) : all;
  const more = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  useEffect(() => {
    if (rows.length < MIN_ROWS) more();
  }, [rows.length, more]);
  const set = (change: object) =>
    void navigate({ to: '.', search: (before: object) => ({ ...before, ...change }) as never });

  if (requests.isPending) return <Loading />;
  if (requests.isError) return <ErrorAlert error={requests.error} onRetry={() => void requests.refetch()} />;
  if (all.length === 0) {
    return (
      <EmptyState title="No request yet" command={curlCommand(webhook.url)}>
        Whatever comes to its URL is listed here, also what is refused, with the reason.
      </EmptyState>
    );
  }
  return (
    <>
      <div className="mb-4">
        <SegmentedControl
          label="What became of them"
          options={FILTERS}
          value={outcome ?? 'all'}
          onChange={(id) => set({ outcome: id === 'all' ? undefined : id })}
        />
      </div>
      {rows.length === 0 && !hasNextPage ? (
        <EmptyState title={`None of the last ${all.length} requests was ${outcome}`} />
      ) : (
        <DataTable
          label="Requests"
          columns={COLUMNS}
          rows={rows}
          rowKey={({ id }) => id}
          onOpen={({ id }) => set({ request: id })}
          onEndReached={more}
          loadingMore={isFetchingNextPage}
        />
      )}
    </>
  );
}

const COLUMNS: Column<ListedRequest>[] = [
  { id: 'outcome', header: 'Outcome', width: '6.25rem', cell: ({ outcome }) => <OutcomeBadge outcome={outcome} /> },
  { id: 'what', header: 'Event or reason', width: 'minmax(4rem, 3fr)', cell: (request) => <What {...request} /> },
  { id: 'status', header: 'Answered', width: '5rem', align: 'right', hideOnMobile: true, cell: ({ status }) => status },
  {
    id: 'duration',
    header: 'Took',
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
    cell: ({ body_bytes }) => (body_bytes === null ? '–' : bytes(body_bytes)),
  },
  {
    id: 'at',
    header: 'Received',
    width: '5.5rem',
    align: 'right',
    cell: ({ received_at }) => <Time at={received_at} />,
  },
];

function What({ id, event_name, reason, message, rerun_of }: ListedRequest) {
  const words = event_name ?? (reason ? capitalize(reasonLabel(reason)) : 'No event');
  return (
    <span className="flex min-w-0 items-center gap-2">
      <Link
        to="."
        search={(before: object) => ({ ...before, request: id }) as never}
        title={message ?? undefined}
        className="truncate font-medium hover:underline"
      >
        {words}
      </Link>
      {event_name && reason && (
        <span className="hidden truncate text-xs text-muted sm:inline">{reasonLabel(reason)}</span>
      )}
      {rerun_of && <span className="hidden text-xs whitespace-nowrap text-muted sm:inline">run again</span>}
    </span>
  );
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

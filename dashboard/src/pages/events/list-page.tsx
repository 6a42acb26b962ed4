import { useNavigate } from '@tanstack/react-router';
import { useCallback, useMemo, useState } from 'react';
import { useHasAccess } from '../../api/current-user.ts';
import { useEnv } from '../../api/environment.ts';
import { FirstEvent } from '../../features/events/first-event.tsx';
import { Button } from '../../ui/button.tsx';
import { DataTable } from '../../ui/data-table.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { useWebhooks } from './event-source.tsx';
import { type Filters, hasFilters, useFilters, useListQuery, useTimeRange } from './filters.ts';
import { columnsOf } from './list/columns.tsx';
import type { EventRow } from './list/event-pages.ts';
import { FilterBar } from './list/filter-bar.tsx';
import { Histogram } from './list/histogram.tsx';
import { MAX_ROWS, useEventRows } from './list/use-event-rows.ts';
import { useLiveEvents } from './list/use-live-events.ts';
import { SendDialog } from './send/send-dialog.tsx';

const EXAMPLE = { name: 'hello/world', data: {} };

export default function EventsPage() {
  const env = useEnv();
  const filters = useFilters();
  const range = useTimeRange(filters);
  const navigate = useNavigate({ from: '/events' });
  const webhooks = useWebhooks(env);
  const canWrite = useHasAccess('write');
  const [sending, setSending] = useState(false);
  const query = useListQuery(filters, range);
  const { list, rows, hasMore, loadingMore, full, error, loadMore, refreshTop, updateRuns } = useEventRows(env, query);
  const ended = range.before !== undefined || filters.id !== undefined;
  const { unseen, show } = useLiveEvents({ filters, ended, rows, refreshTop, updateRuns });
  const columns = useMemo(() => columnsOf(webhooks), [webhooks]);
  const change = useCallback(
    (to: Partial<Record<keyof Filters, unknown>>) =>
      void navigate({ search: (before) => ({ ...before, ...to }) as never, replace: true, resetScroll: false }),
    [navigate],
  );
  const showNew = () => {
    if (filters.paused) change({ paused: undefined });
    show();
  };
  const open = useCallback(
    ({ internal_id }: EventRow) => void navigate({ to: '/events/$id', params: { id: internal_id }, search: {} }),
    [navigate],
  );
  const paused = filters.paused === true;
  return (
    <Page
      title="Events"
      actions={
        <>
          {!ended && (
            <Button
              icon={paused ? 'play' : 'pause'}
              aria-pressed={paused}
              onClick={() => (paused ? showNew() : change({ paused: true }))}
            >
              {paused ? 'Resume' : 'Pause'}
            </Button>
          )}
          <Button
            icon="send"
            disabled={!canWrite}
            title={canWrite ? undefined : 'Requires write access'}
            onClick={() => setSending(true)}
          >
            Send event
          </Button>
        </>
      }
    >
      <FilterBar env={env} filters={filters} webhooks={webhooks} onChange={change} />
      {filters.id === undefined && (
        <Histogram
          env={env}
          filters={filters}
          range={range}
          onSelectRange={(from, to) => change({ from: new Date(from).toISOString(), to: new Date(to).toISOString() })}
        />
      )}
      <NewEventsButton count={unseen} onShow={showNew} />
      {list.error && <ErrorAlert error={list.error} onRetry={() => void list.refetch()} />}
      {(list.isPending || (rows.length === 0 && hasMore && !error)) && !list.error && (
        <Card>
          <Loading rows={10} />
        </Card>
      )}
      {list.data && rows.length === 0 && !hasMore && (
        <Card>
          {hasFilters(filters) ? (
            <NoMatches
              filters={filters}
              onClear={() => void navigate({ search: (({ env: kept }: { env?: string }) => ({ env: kept })) as never })}
            />
          ) : (
            <FirstEvent title="No events yet" />
          )}
        </Card>
      )}
      {rows.length > 0 && (
        <DataTable
          label="Events"
          columns={columns}
          rows={rows}
          rowKey={(row) => row.internal_id}
          onOpen={open}
          onEndReached={loadMore}
          loadingMore={loadingMore}
          rowHeight={57}
        />
      )}
      {error && (
        <div className="mt-4">
          <ErrorAlert error={error} onRetry={loadMore} />
        </div>
      )}
      {full && (
        <p className="py-6 text-center text-muted">
          Showing {MAX_ROWS.toLocaleString()} events. Select a time range to see older ones.
        </p>
      )}
      <SendDialog title="Send event" open={sending} event={EXAMPLE} onClose={() => setSending(false)} />
    </Page>
  );
}

function NoMatches({ filters, onClear }: { filters: Filters; onClear(): void }) {
  return (
    <EmptyState title={filters.id === undefined ? 'No matching events' : 'Event not found'}>
      <p className="mb-4">
        {filters.id === undefined
          ? 'No stored event matches all filters.'
          : 'It is in another environment, or its retention has ended.'}
      </p>
      <Button onClick={onClear}>Clear filters</Button>
    </EmptyState>
  );
}

/** Sticky, so that it is visible below the top of the list. */
function NewEventsButton({ count, onShow }: { count: number; onShow(): void }) {
  return (
    <div role="status" className="pointer-events-none sticky top-12 z-20 flex h-0 justify-center">
      {count > 0 && (
        <button
          type="button"
          onClick={onShow}
          className="pointer-events-auto inline-flex h-8 items-center gap-1.5 rounded-full bg-accent px-4 text-sm font-medium whitespace-nowrap text-accent-text shadow-lg hover:brightness-110"
        >
          <Icon name="arrow-up" />
          {count.toLocaleString()} new
        </button>
      )}
    </div>
  );
}

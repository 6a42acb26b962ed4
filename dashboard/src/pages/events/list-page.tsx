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

/** What came in, as it comes in. */
export default function EventsPage() {
  const env = useEnv();
  const filters = useFilters();
  const span = useTimeRange(filters);
  const navigate = useNavigate({ from: '/events' });
  const webhooks = useWebhooks(env);
  const may = useHasAccess('write');
  const [sending, setSending] = useState(false);
  const query = useListQuery(filters, span);
  const { list, rows, more, loadingMore, full, problem, readMore, lookAtTop, noteRuns } = useEventRows(env, query);
  const ended = span.before !== undefined || filters.id !== undefined;
  const { waiting, show } = useLiveEvents({ filters, ended, rows, lookAtTop, noteRuns });
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
              {paused ? 'Go on' : 'Pause'}
            </Button>
          )}
          <Button
            icon="send"
            disabled={!may}
            title={may ? undefined : 'This needs write access'}
            onClick={() => setSending(true)}
          >
            Send an event
          </Button>
        </>
      }
    >
      <FilterBar env={env} filters={filters} webhooks={webhooks} onChange={change} />
      {filters.id === undefined && (
        <Histogram
          env={env}
          filters={filters}
          span={span}
          onBrush={(from, to) => change({ from: new Date(from).toISOString(), to: new Date(to).toISOString() })}
        />
      )}
      <NewEventsButton count={waiting} onShow={showNew} />
      {list.error && <ErrorAlert error={list.error} onRetry={() => void list.refetch()} />}
      {(list.isPending || (rows.length === 0 && more && !problem)) && !list.error && (
        <Card>
          <Loading rows={10} />
        </Card>
      )}
      {list.data && rows.length === 0 && !more && (
        <Card>
          {hasFilters(filters) ? (
            <NoMatches
              filters={filters}
              onClear={() => void navigate({ search: (({ env: kept }: { env?: string }) => ({ env: kept })) as never })}
            />
          ) : (
            <FirstEvent title="No event has come in yet" />
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
          onEndReached={readMore}
          loadingMore={loadingMore}
          rowHeight={57}
        />
      )}
      {problem && (
        <div className="mt-4">
          <ErrorAlert error={problem} onRetry={readMore} />
        </div>
      )}
      {full && (
        <p className="py-6 text-center text-muted">
          {MAX_ROWS.toLocaleString()} events are shown. Narrow the time to see older ones.
        </p>
      )}
      <SendDialog title="Send an event" open={sending} event={EXAMPLE} onClose={() => setSending(false)} />
    </Page>
  );
}

function NoMatches({ filters, onClear }: { filters: Filters; onClear(): void }) {
  return (
    <EmptyState title={filters.id === undefined ? 'No event is like that' : 'No event has this ID'}>
      <p className="mb-4">
        {filters.id === undefined
          ? 'Nothing that is stored meets all of the filters.'
          : 'It may be of another environment, or older than what is kept.'}
      </p>
      <Button onClick={onClear}>Clear the filters</Button>
    </EmptyState>
  );
}

/** Stays in sight while the reader is further down. */
function NewEventsButton({ count, onShow }: { count: number; onShow(): void }) {
  return (
    <div role="status" className="pointer-events-none sticky top-12 z-20 flex h-0 justify-center">
      {count > 0 && (
        <button
          type="button"
          onClick={onShow}
          className="pointer-events-auto inline-flex h-8 items-center gap-1.5 rounded-full bg-accent px-4 text-sm font-medium whitespace-nowrap text-accent-text shadow-lg hover:brightness-110"
        >
          <Icon name="arrow" className="-rotate-90" />
          {count.toLocaleString()} new
        </button>
      )}
    </div>
  );
}

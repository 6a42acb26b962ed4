import { useNavigate } from '@tanstack/react-router';
import { useCallback } from 'react';
import { useHasAccess } from '../../../api/current-user.ts';
import { useEnv } from '../../../api/environment.ts';
import { FirstEvent } from '../../../features/events/first-event.tsx';
import { type ListView, ROW_PX } from '../../../features/lists/list-preferences.ts';
import { refusalOf } from '../../../features/search/search-box.tsx';
import { StoppedEarlyNotice } from '../../../features/search/stopped-early.tsx';
import { Button } from '../../../ui/button.tsx';
import { DataTable } from '../../../ui/data-table.tsx';
import { EmptyState } from '../../../ui/empty-state.tsx';
import { ErrorAlert } from '../../../ui/error-alert.tsx';
import { Loading } from '../../../ui/loading.tsx';
import { Card } from '../../../ui/page.tsx';
import { useRowSelection } from '../../../ui/row-selection/use-row-selection.ts';
import { type Filters, hasFilters } from '../filters.ts';
import type { EventRow } from './event-pages.ts';
import { SelectedEvents } from './selected-events.tsx';
import { MAX_ROWS, type useEventRows } from './use-event-rows.ts';

interface EventListProps {
  filters: Filters;
  view: ListView<EventRow>;
  events: ReturnType<typeof useEventRows>;
}

export function EventList({ filters, view, events }: EventListProps) {
  const { list, rows, hasMore, stop, loadingMore, full, error, loadMore, goOn } = events;
  const navigate = useNavigate({ from: '/events' });
  const canWrite = useHasAccess('write');
  const selection = useRowSelection(JSON.stringify([useEnv(), filters]));
  const open = useCallback(
    ({ internal_id }: EventRow) => void navigate({ to: '/events/$id', params: { id: internal_id }, search: {} }),
    [navigate],
  );
  // The search box shows this error.
  if (refusalOf(list.error)) return null;
  return (
    <>
      {list.error && <ErrorAlert error={list.error} onRetry={() => void list.refetch()} />}
      {(list.isPending || (rows.length === 0 && hasMore && !stop && !error)) && !list.error && (
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
          columns={view.shown}
          rows={rows}
          rowKey={keyOf}
          onOpen={open}
          onEndReached={loadMore}
          loadingMore={loadingMore}
          rowHeight={ROW_PX[view.density]}
          compact={view.density === 'compact'}
          selectable={canWrite ? { selection, labelOf } : undefined}
        />
      )}
      <SelectedEvents selection={selection} rows={rows} />
      {error && (
        <div className="mt-4">
          <ErrorAlert error={error} onRetry={goOn} />
        </div>
      )}
      {stop && hasMore && !error && <StoppedEarlyNotice stop={stop} what="events" busy={loadingMore} onGoOn={goOn} />}
      {full && (
        <p className="py-6 text-center text-muted">
          Showing {MAX_ROWS.toLocaleString()} events. Select a time range to see older ones.
        </p>
      )}
    </>
  );
}

const keyOf = (row: EventRow) => row.internal_id;
function labelOf({ name, internal_id }: EventRow): string {
  return `${name}, ${internal_id}`;
}

function NoMatches({ filters, onClear }: { filters: Filters; onClear(): void }) {
  return (
    <EmptyState title={filters.id === undefined ? 'No results' : 'Event not found'}>
      <p className="mb-4">
        {filters.id === undefined
          ? 'No stored event matches all filters.'
          : 'It is in another environment, or its retention has ended.'}
      </p>
      <Button onClick={onClear}>Clear filters</Button>
    </EmptyState>
  );
}

import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useCallback, useMemo, useState } from 'react';
import { useCurrentUser, useHasAccess } from '../../api/current-user.ts';
import { useWebhooks } from '../../features/webhooks/queries.ts';
import { isAllBranches } from '../../features/webhooks/scope.ts';
import { Button } from '../../ui/button.tsx';
import { DataTable } from '../../ui/data-table.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Page } from '../../ui/page.tsx';
import { AssignDialog } from './assign-dialog.tsx';
import type { Assignment } from './assignment.ts';
import { columnsOf } from './columns.tsx';
import { DiscardButton } from './discard-button.tsx';
import { Filters } from './filters.tsx';
import { HeldEventDialog } from './held-event-dialog.tsx';
import { type Filter, useHeldEvents, useLiveHeldEvents } from './queries.ts';

const route = getRouteApi('/held-events');

export default function HeldEventsPage() {
  const { id, webhook, name, selection, reason } = route.useSearch();
  const filter = useMemo(() => ({ webhook, name, selection, reason }), [webhook, name, selection, reason]);
  const [assigning, setAssigning] = useState<Assignment>();
  const navigate = useNavigate();
  const open = useCallback(
    (opened: string | undefined) =>
      void navigate({ to: '/held-events', search: (before: object) => ({ ...before, id: opened }) as never }),
    [navigate],
  );
  useLiveHeldEvents();
  return (
    <Page
      title="Holding page"
      description="Events of webhooks that could be given to no environment. They run nothing until you assign them."
    >
      <Filters filter={filter} />
      <List filter={filter} onOpen={open} onAssign={setAssigning} />
      <HeldEventDialog id={id} onClose={() => open(undefined)} onAssign={setAssigning} />
      <AssignDialog assigning={assigning} onClose={() => setAssigning(undefined)} onDone={() => open(undefined)} />
    </Page>
  );
}

interface ListProps {
  filter: Filter;
  onOpen(id: string): void;
  onAssign(assigning: Assignment): void;
}

function List({ filter, onOpen, onAssign }: ListProps) {
  const mayWrite = useHasAccess('write');
  const held = useHeldEvents(filter);
  const { data: webhooks } = useWebhooks();
  const columns = useMemo(
    () => columnsOf(new Map(webhooks?.map(({ id, name }) => [id, name])), mayWrite, onOpen, onAssign),
    [webhooks, mayWrite, onOpen, onAssign],
  );
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = held;
  const more = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  if (held.isPending) return <Loading />;
  if (held.isError) return <ErrorAlert error={held.error} onRetry={() => void held.refetch()} />;
  const rows = held.data.pages.flatMap(({ data }) => data);
  const filtered = Object.values(filter).some((value) => value !== undefined);
  if (rows.length === 0 && !hasNextPage) return <NoHeldEvents filtered={filtered} />;
  const all = filtered ? 'all that the filter shows' : 'all held events';
  return (
    <>
      <div className="mb-3 flex flex-wrap items-center justify-between gap-2">
        <p className="text-sm text-muted tabular-nums" role="status">
          {rows.length}
          {hasNextPage && ' or more'} {rows.length === 1 && !hasNextPage ? 'event waits' : 'events wait'}
        </p>
        <div className="flex gap-2">
          <DiscardButton which={{ filter }} what={all} disabled={!mayWrite}>
            Discard all
          </DiscardButton>
          <Button
            icon="arrow"
            disabled={!mayWrite}
            title={mayWrite ? undefined : 'Assigning needs write access'}
            onClick={() => onAssign({ which: { filter }, label: all, suggestedEnvironment: filter.selection })}
          >
            Assign all
          </Button>
        </div>
      </div>
      <DataTable
        label="Held events"
        columns={columns}
        rows={rows}
        rowKey={({ internal_id }) => internal_id}
        rowHeight={52}
        onOpen={({ internal_id }) => onOpen(internal_id)}
        onEndReached={more}
        loadingMore={isFetchingNextPage}
      />
    </>
  );
}

function NoHeldEvents({ filtered }: { filtered: boolean }) {
  const dev = useCurrentUser()?.kind === 'dev';
  const { data: webhooks } = useWebhooks();
  if (filtered) return <EmptyState title="No held event is like that" />;
  if (dev)
    return <EmptyState title="Nothing is held">In dev mode there is one environment, so nothing ever is.</EmptyState>;
  const url = webhooks?.find(({ environment }) => isAllBranches(environment))?.url;
  return (
    <EmptyState
      title="Nothing is held"
      command={`curl -X POST '${url ?? `${location.origin}/e/<key of a webhook of all branches>`}' \\
  -H 'content-type: application/json' -d '{"hello": "world"}'`}
    >
      A webhook’s event comes here when its request names no environment, or one that there is not. This one names none:
    </EmptyState>
  );
}

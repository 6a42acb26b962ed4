import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useCallback, useMemo, useState } from 'react';
import { useHasAccess } from '../../api/current-user.ts';
import type { ListedHeldEvent } from '../../api/types.ts';
import { masked } from '../../features/webhooks/masked-url.ts';
import { useWebhooks } from '../../features/webhooks/queries.ts';
import { isAllBranches } from '../../lib/environment-scope.ts';
import { Button } from '../../ui/button.tsx';
import { DataTable } from '../../ui/data-table.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Page } from '../../ui/page.tsx';
import { SelectionBar } from '../../ui/row-selection/selection-bar.tsx';
import { useRowSelection } from '../../ui/row-selection/use-row-selection.ts';
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
  const [assignment, setAssignment] = useState<Assignment>();
  const navigate = useNavigate();
  const open = useCallback(
    (opened: string | undefined) =>
      void navigate({ to: '/held-events', search: (before: object) => ({ ...before, id: opened }) as never }),
    [navigate],
  );
  useLiveHeldEvents();
  return (
    <Page
      title="Held events"
      description="The webhooks of these events serve all branches: each request says for which environment it is. These requests named none, or one that does not exist. Nothing is lost, and no function runs, until you assign the events."
    >
      <Filters filter={filter} />
      <List filter={filter} onOpen={open} onAssign={setAssignment} />
      <HeldEventDialog id={id} onClose={() => open(undefined)} onAssign={setAssignment} />
      <AssignDialog
        assignment={assignment}
        onClose={() => setAssignment(undefined)}
        onDone={() => {
          open(undefined);
          assignment?.onDone?.();
        }}
      />
    </Page>
  );
}

interface ListProps {
  filter: Filter;
  onOpen(id: string): void;
  onAssign(assignment: Assignment): void;
}

function List({ filter, onOpen, onAssign }: ListProps) {
  const canWrite = useHasAccess('write');
  const { rows, error, hasMore, loadMore, loadingMore, refetch } = useHeldEvents(filter);
  const { data: webhooks } = useWebhooks();
  const columns = useMemo(
    () => columnsOf(new Map(webhooks?.map(({ id, name }) => [id, name])), canWrite, onOpen, onAssign),
    [webhooks, canWrite, onOpen, onAssign],
  );
  const selection = useRowSelection(JSON.stringify(filter));
  const selected = selection.all ? { filter } : { ids: [...selection.keys] };
  if (error) return <ErrorAlert error={error} onRetry={refetch} />;
  if (!rows) return <Loading />;
  const filtered = Object.values(filter).some((value) => value !== undefined);
  if (rows.length === 0 && !hasMore) return <NoHeldEvents filtered={filtered} />;
  const selectedLabel = selection.all
    ? 'all events that match'
    : `${selection.keys.size} selected ${selection.keys.size === 1 ? 'event' : 'events'}`;
  const all = filtered ? 'all matching events' : 'all held events';
  return (
    <>
      <div className="mb-3 flex flex-wrap items-center justify-between gap-2">
        <p className="text-sm text-muted tabular-nums" role="status">
          {rows.length}
          {hasMore && ' or more'} {rows.length === 1 && !hasMore ? 'held event' : 'held events'}
        </p>
        <div className="flex gap-2">
          <DiscardButton selection={{ filter }} label={all} disabled={!canWrite}>
            Discard all
          </DiscardButton>
          <Button
            icon="arrow-right"
            disabled={!canWrite}
            title={canWrite ? undefined : 'Assigning needs write access'}
            onClick={() => onAssign({ selection: { filter }, label: all, suggestedEnvironment: filter.selection })}
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
        onEndReached={loadMore}
        loadingMore={loadingMore}
        selectable={canWrite ? { selection, labelOf } : undefined}
      />
      <SelectionBar
        selection={selection}
        nouns={['event', 'events']}
        matching={{ count: rows.length, isExact: !hasMore }}
      >
        <Button
          icon="arrow-right"
          onClick={() => onAssign({ selection: selected, label: selectedLabel, onDone: selection.clear })}
        >
          Assign…
        </Button>
        <DiscardButton selection={selected} label={selectedLabel} disabled={!canWrite} onDone={selection.clear}>
          Discard…
        </DiscardButton>
      </SelectionBar>
    </>
  );
}

function labelOf({ event, internal_id }: ListedHeldEvent): string {
  return `${event.name}, ${internal_id}`;
}

function NoHeldEvents({ filtered }: { filtered: boolean }) {
  const { data: webhooks } = useWebhooks();
  if (filtered) return <EmptyState title="No matching held events" />;
  const url = webhooks?.find(({ environment }) => isAllBranches(environment))?.url;
  const command = `curl -X POST '${url ?? `${location.origin}/e/<key of a webhook for all branches>`}' \\
  -H 'content-type: application/json' -d '{"hello": "world"}'`;
  return (
    <EmptyState title="No held events" command={command} shownCommand={masked(command)}>
      Events arrive here when their webhook request names no environment, or an unknown one. For example:
    </EmptyState>
  );
}

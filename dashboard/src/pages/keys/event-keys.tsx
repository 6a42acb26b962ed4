import { useMemo, useState } from 'react';
import { callApi } from '../../api/client.ts';
import { useHasAccess } from '../../api/current-user.ts';
import type { EventKey, NewEventKey } from '../../api/types.ts';
import { useList } from '../../api/use-list.ts';
import { adminOnlyReason } from '../../ui/admin-only.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { ConfirmButton } from '../../ui/dialog.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { Loading } from '../../ui/loading.tsx';
import { SecretDialog, Snippet } from '../../ui/secret-dialog.tsx';
import { Badge } from '../../ui/status-badge.tsx';
import { Time } from '../../ui/time.tsx';
import { useDeed } from '../../ui/use-action.ts';
import { EventKeyForm } from './event-key-form.tsx';
import { ALL_BRANCHES, scopeLabel } from './scope-select.tsx';
import { KeyHint, Section } from './section.tsx';

/** The secrets that senders put into the path: `POST /e/<event key>`. */
export function EventKeys() {
  const may = useHasAccess('admin');
  const {
    rows,
    error,
    loadMore: more,
    loadingMore,
    refetch: again,
  } = useList<EventKey>(['event-keys'], '/v1/event-keys');
  const [making, setMaking] = useState(false);
  const [changing, setChanging] = useState<EventKey>();
  const [made, setMade] = useState<NewEventKey>();
  const columns = useMemo(() => columnsFor(may, setChanging), [may]);
  const make = (
    <Button variant="primary" icon="plus" disabled={!may} title={adminOnlyReason(may)} onClick={() => setMaking(true)}>
      Make an event key
    </Button>
  );
  return (
    <Section lead="Senders put one into the path when they send events. It belongs to one environment." action={make}>
      {error && !rows && <ErrorAlert error={error} onRetry={again} />}
      {!error && !rows && <Loading />}
      {rows?.length === 0 && (
        <EmptyState title="No event key yet" command={createCommand()}>
          One for each sender lets you see who sends, and shut one out alone. In dev mode any key will do.
        </EmptyState>
      )}
      {rows && rows.length > 0 && (
        <DataTable
          label="Event keys"
          columns={columns}
          rows={rows}
          rowKey={({ id }) => id}
          onEndReached={more}
          loadingMore={loadingMore}
          rowHeight={56}
        />
      )}
      {making && <EventKeyForm onClose={() => setMaking(false)} onMade={setMade} />}
      {changing && <EventKeyForm before={changing} onClose={() => setChanging(undefined)} />}
      <SecretDialog
        title="The event key is made"
        secret={made?.secret}
        label="Copy the event key"
        onClose={() => setMade(undefined)}
      >
        {made && (
          <>
            <Snippet what="For a client" line={envFileFor(made)} />
            <Snippet what="Or send a first event" line={curlFor(made)} />
          </>
        )}
      </SecretDialog>
    </Section>
  );
}

function columnsFor(may: boolean, onChange: (key: EventKey) => void): Column<EventKey>[] {
  return [
    {
      id: 'name',
      header: 'Name',
      width: 'minmax(0, 1.5fr)',
      cell: ({ name, hint, environment }) => (
        <>
          <div className="truncate font-medium" title={name}>
            {name}
          </div>
          <div className="truncate text-xs text-muted">
            <KeyHint end={hint} />
            <span className="md:hidden"> · {scopeLabel(environment)}</span>
          </div>
        </>
      ),
    },
    {
      id: 'environment',
      header: 'Environment',
      width: 'minmax(0, 1fr)',
      hideOnMobile: true,
      cell: ({ environment }) => scopeLabel(environment),
    },
    {
      id: 'limits',
      header: 'Limits',
      width: 'minmax(0, 1.5fr)',
      hideOnMobile: true,
      cell: (key) => <Restrictions of={key} />,
    },
    {
      id: 'used',
      header: 'Last used',
      width: '6rem',
      hideOnMobile: true,
      cell: ({ last_used_at }) =>
        last_used_at ? <Time at={last_used_at} /> : <span className="text-muted">never</span>,
    },
    {
      id: 'made',
      header: 'Made',
      width: '6rem',
      hideOnMobile: true,
      cell: ({ created_at }) => <Time at={created_at} />,
    },
    {
      id: 'actions',
      header: '',
      width: 'clamp(5.5rem, 18vw, 9rem)',
      align: 'right',
      cell: (key) => <Actions of={key} may={may} onChange={() => onChange(key)} />,
    },
  ];
}

function Restrictions({ of: { event_names, ip_addresses, max_bytes } }: { of: EventKey }) {
  if (!event_names && !ip_addresses && max_bytes === null) return <span className="text-muted">none</span>;
  const told = (list: EventKey['event_names'], thing: string) =>
    list && (
      <Badge tone="neutral" icon="filter" title={list.items.join('\n')}>
        {list.mode === 'allow' ? 'only' : 'not'} {list.items.length} {thing}
        {list.items.length === 1 ? '' : 's'}
      </Badge>
    );
  return (
    <span className="flex flex-wrap gap-1">
      {told(event_names, 'name')}
      {told(ip_addresses, 'range')}
      {max_bytes !== null && <Badge tone="neutral">{max_bytes.toLocaleString()} B</Badge>}
    </span>
  );
}

function Actions({ of: { id, name }, may, onChange }: { of: EventKey; may: boolean; onChange(): void }) {
  const revoke = useDeed({
    act: () => callApi(`/v1/event-keys/${id}`, { method: 'DELETE' }),
    told: `${name} is revoked`,
    changes: 'event-keys',
  });
  if (!may) return null;
  return (
    <span className="inline-flex items-center justify-end gap-1">
      <IconButton icon="edit" label={`Change ${name}`} onClick={onChange} />
      <ConfirmButton
        title={`Revoke ${name}?`}
        text="Whoever sends with it is answered 401 from then on. This cannot be undone: a revoked key does not come back."
        confirmLabel="Revoke it"
        icon="trash"
        onConfirm={() => revoke.mutateAsync().catch(() => {})}
      >
        <span className="max-sm:sr-only">Revoke</span>
      </ConfirmButton>
    </span>
  );
}

function createCommand(): string {
  return `curl ${location.origin}/v1/event-keys -H "authorization: Bearer $API_KEY" -H 'content-type: application/json' \\
  -d '{"name": "shop", "environment": "production"}'`;
}

function envFileFor({ secret, environment }: NewEventKey): string {
  const lines = [`SERVICE_EVENT_KEY=${secret}`, `SERVICE_BASE_URL=${location.origin}`];
  return [...lines, ...(environment === ALL_BRANCHES ? ['SERVICE_ENV=<the branch>'] : [])].join('\n');
}

function curlFor({ secret, environment }: NewEventKey): string {
  const branch = environment === ALL_BRANCHES ? ` -H 'x-service-env: <the branch>'` : '';
  return `curl ${location.origin}/e/${secret}${branch} -H 'content-type: application/json' -d '{"name": "order/paid", "data": {}}'`;
}

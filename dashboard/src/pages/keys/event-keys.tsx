import { useMemo, useState } from 'react';
import { callApi } from '../../api/client.ts';
import { useHasAccess } from '../../api/current-user.ts';
import type { EventKey, NewEventKey } from '../../api/types.ts';
import { useList } from '../../api/use-list.ts';
import { ALL_BRANCHES, scopeLabel } from '../../lib/environment-scope.ts';
import { adminOnlyReason } from '../../ui/admin-only.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import type { Column } from '../../ui/data-table.tsx';
import { ConfirmButton } from '../../ui/dialog.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { ListTable } from '../../ui/list-table.tsx';
import { SecretDialog, Snippet } from '../../ui/secret-dialog.tsx';
import { Badge } from '../../ui/status-badge.tsx';
import { Time } from '../../ui/time.tsx';
import { useAction } from '../../ui/use-action.ts';
import { EventKeyForm } from './event-key-form.tsx';
import { KeyHint, Section } from './section.tsx';

/** Keys for senders, part of the URL: `POST /e/<event key>`. */
export function EventKeys() {
  const isAdmin = useHasAccess('admin');
  const keys = useList<EventKey>(['event-keys'], '/v1/event-keys');
  const [creating, setCreating] = useState(false);
  const [editing, setEditing] = useState<EventKey>();
  const [created, setCreated] = useState<NewEventKey>();
  const columns = useMemo(() => columnsFor(isAdmin, setEditing), [isAdmin]);
  const create = (
    <Button
      variant="primary"
      icon="plus"
      disabled={!isAdmin}
      title={adminOnlyReason(isAdmin)}
      onClick={() => setCreating(true)}
    >
      Create event key
    </Button>
  );
  return (
    <Section description="Senders use an event key in the URL. It belongs to one environment." action={create}>
      <ListTable
        list={keys}
        label="Event keys"
        columns={columns}
        rowKey={({ id }) => id}
        rowHeight={56}
        empty={
          <EmptyState title="No event keys yet" command={createCommand()}>
            Create one per sender, so that you can identify and revoke each. Dev mode accepts any key.
          </EmptyState>
        }
      />
      {creating && <EventKeyForm onClose={() => setCreating(false)} onCreated={setCreated} />}
      {editing && <EventKeyForm existing={editing} onClose={() => setEditing(undefined)} />}
      <SecretDialog
        title="Event key created"
        secret={created?.secret}
        label="Copy event key"
        onClose={() => setCreated(undefined)}
      >
        {created && (
          <>
            <Snippet label="Settings for a client" text={envFileFor(created)} />
            <Snippet label="Or send a first event" text={curlFor(created)} />
          </>
        )}
      </SecretDialog>
    </Section>
  );
}

function columnsFor(isAdmin: boolean, onChange: (key: EventKey) => void): Column<EventKey>[] {
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
      id: 'restrictions',
      header: 'Restrictions',
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
      id: 'created',
      header: 'Created',
      width: '6rem',
      hideOnMobile: true,
      cell: ({ created_at }) => <Time at={created_at} />,
    },
    {
      id: 'actions',
      header: '',
      width: 'clamp(5.5rem, 18vw, 9rem)',
      align: 'right',
      cell: (key) => <Actions of={key} isAdmin={isAdmin} onChange={() => onChange(key)} />,
    },
  ];
}

function Restrictions({ of: { event_names, ip_addresses, max_bytes } }: { of: EventKey }) {
  if (!event_names && !ip_addresses && max_bytes === null) return <span className="text-muted">none</span>;
  const badge = (list: EventKey['event_names'], item: string) =>
    list && (
      <Badge tone="neutral" icon="filter" title={list.items.join('\n')}>
        {list.mode === 'allow' ? 'only' : 'not'} {list.items.length} {item}
        {list.items.length === 1 ? '' : 's'}
      </Badge>
    );
  return (
    <span className="flex flex-wrap gap-1">
      {badge(event_names, 'name')}
      {badge(ip_addresses, 'range')}
      {max_bytes !== null && <Badge tone="neutral">{max_bytes.toLocaleString()} B</Badge>}
    </span>
  );
}

function Actions({ of: { id, name }, isAdmin, onChange }: { of: EventKey; isAdmin: boolean; onChange(): void }) {
  const revoke = useAction({
    run: () => callApi(`/v1/event-keys/${id}`, { method: 'DELETE' }),
    successMessage: `${name} revoked`,
    invalidates: 'event-keys',
  });
  if (!isAdmin) return null;
  return (
    <span className="inline-flex items-center justify-end gap-1">
      <IconButton icon="edit" label={`Edit ${name}`} onClick={onChange} />
      <ConfirmButton
        title={`Revoke ${name}?`}
        text="Events sent with this key are rejected with 401. This cannot be undone."
        confirmLabel="Revoke"
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

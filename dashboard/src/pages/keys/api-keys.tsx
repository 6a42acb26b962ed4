import { useMemo, useState } from 'react';
import { callApi } from '../../api/client.ts';
import type { ApiKey, NewApiKey } from '../../api/types.ts';
import { useList } from '../../api/use-list.ts';
import { Button } from '../../ui/button.tsx';
import type { Column } from '../../ui/data-table.tsx';
import { ConfirmButton } from '../../ui/dialog.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { ListTable } from '../../ui/list-table.tsx';
import { SecretDialog, Snippet } from '../../ui/secret-dialog.tsx';
import { Badge } from '../../ui/status-badge.tsx';
import { Time } from '../../ui/time.tsx';
import { useAction } from '../../ui/use-action.ts';
import { ApiKeyForm } from './api-key-form.tsx';
import { KeyHint, Section } from './section.tsx';

const TONES = { read: 'neutral', write: 'busy', admin: 'warn' } as const;

/** Keys for programs that use the REST API. */
export function ApiKeys() {
  const [creating, setCreating] = useState(false);
  const [created, setCreated] = useState<NewApiKey>();
  const keys = useList<ApiKey>(['api-keys'], '/v1/api-keys');
  const columns = useMemo(columnsOf, []);
  const create = (
    <Button variant="primary" icon="plus" onClick={() => setCreating(true)}>
      Create API key
    </Button>
  );
  return (
    <Section
      description="Programs authenticate to the REST API with an API key, which can be limited to one environment."
      action={create}
    >
      <ListTable
        list={keys}
        label="API keys"
        columns={columns}
        rowKey={({ id }) => id}
        rowHeight={56}
        empty={
          <EmptyState title="No API keys yet" command={createCommand()}>
            Create one for each program that uses the API, with the least access it needs.
          </EmptyState>
        }
      />
      {creating && <ApiKeyForm onClose={() => setCreating(false)} onCreated={setCreated} />}
      <SecretDialog
        title="API key created"
        secret={created?.secret}
        label="Copy API key"
        onClose={() => setCreated(undefined)}
      >
        {created && <Snippet label="Try it" text={curlFor(created)} />}
      </SecretDialog>
    </Section>
  );
}

function columnsOf(): Column<ApiKey>[] {
  return [
    {
      id: 'name',
      header: 'Name',
      width: 'minmax(0, 1.5fr)',
      cell: ({ name, hint }) => (
        <>
          <div className="truncate font-medium" title={name}>
            {name}
          </div>
          <KeyHint end={hint} />
        </>
      ),
    },
    {
      id: 'access',
      header: 'Access',
      width: '5rem',
      cell: ({ access }) => <Badge tone={TONES[access]}>{access}</Badge>,
    },
    {
      id: 'environment',
      header: 'Environment',
      width: 'minmax(0, 1fr)',
      hideOnMobile: true,
      cell: ({ environment }) => environment ?? <span className="text-muted">all</span>,
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
      width: 'minmax(0, 1fr)',
      hideOnMobile: true,
      cell: ({ created_at, created_by }) => (
        <>
          <Time at={created_at} />
          <div className="truncate text-xs text-muted">by {created_by}</div>
        </>
      ),
    },
    { id: 'actions', header: '', width: 'clamp(3rem, 14vw, 7rem)', align: 'right', cell: (key) => <Revoke of={key} /> },
  ];
}

function Revoke({ of: { id, name } }: { of: ApiKey }) {
  const revoke = useAction({
    run: () => callApi(`/v1/api-keys/${id}`, { method: 'DELETE' }),
    successMessage: `${name} revoked`,
    invalidates: 'api-keys',
  });
  return (
    <ConfirmButton
      title={`Revoke ${name}?`}
      text="Requests with this key are rejected. This cannot be undone."
      confirmLabel="Revoke"
      icon="trash"
      onConfirm={() => revoke.mutateAsync().catch(() => {})}
    >
      <span className="max-sm:sr-only">Revoke</span>
    </ConfirmButton>
  );
}

function createCommand(): string {
  return `curl ${location.origin}/v1/api-keys -H "authorization: Bearer $API_KEY" -H 'content-type: application/json' \\
  -d '{"name": "operations", "access": "read"}'`;
}

function curlFor({ secret, environment }: NewApiKey): string {
  const selected = environment && environment !== 'production' ? ` -H 'x-service-env: ${environment}'` : '';
  return `curl ${location.origin}/v1/events -H 'authorization: Bearer ${secret}'${selected}`;
}

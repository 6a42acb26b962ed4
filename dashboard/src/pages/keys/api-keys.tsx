import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { callApi } from '../../api/client.ts';
import type { ApiKey, NewApiKey } from '../../api/types.ts';
import { Button } from '../../ui/button.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { ConfirmButton } from '../../ui/dialog.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { Loading } from '../../ui/loading.tsx';
import { SecretDialog, Snippet } from '../../ui/secret-dialog.tsx';
import { Badge } from '../../ui/status-badge.tsx';
import { Time } from '../../ui/time.tsx';
import { useDeed } from '../../ui/use-action.ts';
import { ApiKeyForm } from './api-key-form.tsx';
import { KeyHint, Section } from './section.tsx';

const TONES = { read: 'neutral', write: 'busy', admin: 'warn' } as const;

/** What programs use the API with. */
export function ApiKeys() {
  const [making, setMaking] = useState(false);
  const [made, setMade] = useState<NewApiKey>();
  const { data, error, refetch } = useQuery({
    queryKey: ['api-keys'],
    queryFn: ({ signal }) => callApi<ApiKey[]>('/v1/api-keys', { signal }),
  });
  const rows = data?.data;
  const columns = useMemo(columnsOf, []);
  const make = (
    <Button variant="primary" icon="plus" onClick={() => setMaking(true)}>
      Make an API key
    </Button>
  );
  return (
    <Section lead="Programs use the REST API with one. It may be held to one environment." action={make}>
      {error && !rows && <ErrorAlert error={error} onRetry={() => void refetch()} />}
      {!error && !rows && <Loading />}
      {rows?.length === 0 && (
        <EmptyState title="No API key yet" command={createCommand()}>
          Make one for each program that uses the API, with no more access than it needs.
        </EmptyState>
      )}
      {rows && rows.length > 0 && (
        <DataTable label="API keys" columns={columns} rows={rows} rowKey={({ id }) => id} rowHeight={56} />
      )}
      {making && <ApiKeyForm onClose={() => setMaking(false)} onMade={setMade} />}
      <SecretDialog
        title="The API key is made"
        secret={made?.secret}
        label="Copy the API key"
        onClose={() => setMade(undefined)}
      >
        {made && <Snippet what="Try it" line={curlFor(made)} />}
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
      id: 'made',
      header: 'Made',
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
  const revoke = useDeed({
    act: () => callApi(`/v1/api-keys/${id}`, { method: 'DELETE' }),
    told: `${name} is revoked`,
    changes: 'api-keys',
  });
  return (
    <ConfirmButton
      title={`Revoke ${name}?`}
      text="From then on it opens nothing. This cannot be undone: a revoked key does not come back."
      confirmLabel="Revoke it"
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

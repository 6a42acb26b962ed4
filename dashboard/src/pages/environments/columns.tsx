import { Link } from '@tanstack/react-router';
import { callApi, PRODUCTION } from '../../api/client.ts';
import { useEnv } from '../../api/environment.ts';
import type { Environment } from '../../api/types.ts';
import { formatBytes } from '../../lib/format.ts';
import { Button } from '../../ui/button.tsx';
import type { Column } from '../../ui/data-table.tsx';
import { ConfirmButton } from '../../ui/dialog.tsx';
import { Badge } from '../../ui/status-badge.tsx';
import { Time } from '../../ui/time.tsx';
import { useAction } from '../../ui/use-action.ts';
import { LimitsButton } from './limit-form.tsx';
import { Retention, Use } from './use.tsx';

const KINDS = { production: 'built in', named: 'named', branch: 'branch' } as const;

export function columnsFor(isAdmin: boolean): Column<Environment>[] {
  return [
    { id: 'name', header: 'Name', width: 'minmax(7rem, 2fr)', cell: (one) => <Name of={one} /> },
    { id: 'status', header: 'Status', width: '6.5rem', hideOnMobile: true, cell: (one) => <Status of={one} /> },
    {
      id: 'use',
      header: 'In Redis',
      width: '6.5rem',
      align: 'right',
      hideOnMobile: true,
      cell: (one) => <Use of={one} />,
    },
    {
      id: 'retention',
      header: 'Retention',
      width: '5.5rem',
      align: 'right',
      hideOnMobile: true,
      cell: (one) => <Retention of={one} />,
    },
    {
      id: 'limit',
      header: 'Max request',
      width: '6rem',
      align: 'right',
      hideOnMobile: true,
      cell: ({ event_max_bytes: bytes }) =>
        bytes === null ? <span className="text-muted">default</span> : formatBytes(bytes),
    },
    {
      id: 'created',
      header: 'Created',
      width: '5.5rem',
      hideOnMobile: true,
      cell: ({ created_at }) => (created_at ? <Time at={created_at} /> : <span className="text-muted">–</span>),
    },
    { id: 'actions', header: '', width: '11.5rem', align: 'right', cell: (one) => isAdmin && <Actions of={one} /> },
  ];
}

/** Selects the environment and opens its overview. */
function Name({ of: { name, kind, archived_at, deleting_at } }: { of: Environment }) {
  const current = useEnv() === name;
  return (
    <div className="min-w-0">
      <Link
        to="/"
        search={{ env: name === PRODUCTION ? undefined : name } as never}
        title={`Open ${name}`}
        className="block truncate font-medium hover:text-accent hover:underline"
      >
        {name}
      </Link>
      <p className="truncate text-xs text-muted">
        {KINDS[kind]}
        {current && ' · selected'}
        {(deleting_at ?? archived_at) !== null && (
          <span className="md:hidden"> · {deleting_at ? 'deleting' : 'archived'}</span>
        )}
      </p>
    </div>
  );
}

function Status({ of: { archived_at, deleting_at } }: { of: Environment }) {
  if (deleting_at) {
    return (
      <Badge tone="bad" icon="box" title={`Since ${new Date(deleting_at).toLocaleString()}`}>
        deleting
      </Badge>
    );
  }
  if (!archived_at) {
    return (
      <Badge tone="good" icon="check">
        active
      </Badge>
    );
  }
  return (
    <Badge tone="neutral" icon="box" title={`Since ${new Date(archived_at).toLocaleString()}`}>
      archived
    </Badge>
  );
}

function Actions({ of: environment }: { of: Environment }) {
  const { name, kind, archived_at, deleting_at } = environment;
  const path = `/v1/environments/${encodeURIComponent(name)}`;
  const archive = useAction({
    run: () => callApi(`${path}/archive`, { method: 'POST' }),
    successMessage: `${name} archived`,
    invalidates: 'environments',
  });
  const unarchive = useAction({
    run: () => callApi(`${path}/unarchive`, { method: 'POST' }),
    successMessage: `${name} unarchived`,
    invalidates: 'environments',
  });
  const remove = useAction({
    run: () => callApi(path, { method: 'DELETE' }),
    successMessage: `Deleting ${name}`,
    invalidates: 'environments',
  });
  if (deleting_at) return null;
  if (archived_at) {
    return (
      <div className="flex justify-end gap-2">
        <Button busy={unarchive.isPending} aria-label={`Unarchive ${name}`} onClick={() => unarchive.mutate()}>
          Unarchive
        </Button>
        {kind === 'branch' && (
          <ConfirmButton
            label={`Delete ${name}`}
            title={`Delete ${name}?`}
            text="Deletes its events, runs, apps and functions, and revokes its API keys. This cannot be undone."
            confirmLabel="Delete"
            onConfirm={() => remove.mutateAsync().catch(() => {})}
          >
            Delete
          </ConfirmButton>
        )}
      </div>
    );
  }
  return (
    <div className="flex justify-end gap-2">
      <LimitsButton of={environment} />
      {name !== PRODUCTION && (
        <ConfirmButton
          variant="secondary"
          label={`Archive ${name}`}
          title={`Archive ${name}?`}
          text="New events are rejected with 403. Existing data remains readable, runs in progress continue, and you can unarchive it later."
          confirmLabel="Archive"
          onConfirm={() => archive.mutateAsync().catch(() => {})}
        >
          Archive
        </ConfirmButton>
      )}
    </div>
  );
}

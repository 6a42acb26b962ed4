import { Link } from '@tanstack/react-router';
import { callApi, PRODUCTION } from '../../api/client.ts';
import { useEnv } from '../../api/environment.ts';
import type { Environment } from '../../api/types.ts';
import { Button } from '../../ui/button.tsx';
import type { Column } from '../../ui/data-table.tsx';
import { ConfirmButton } from '../../ui/dialog.tsx';
import { Badge } from '../../ui/status-badge.tsx';
import { Time } from '../../ui/time.tsx';
import { useDeed } from '../../ui/use-action.ts';

const KINDS = { production: 'production', named: 'named', branch: 'branch' } as const;

export function columnsFor(may: boolean): Column<Environment>[] {
  return [
    { id: 'name', header: 'Name', width: 'minmax(0, 2fr)', cell: (one) => <Name of={one} /> },
    { id: 'kind', header: 'Kind', width: '7rem', hideOnMobile: true, cell: ({ kind }) => KINDS[kind] },
    { id: 'state', header: 'State', width: '6.5rem', hideOnMobile: true, cell: (one) => <State of={one} /> },
    {
      id: 'made',
      header: 'Made',
      width: '8rem',
      hideOnMobile: true,
      cell: ({ created_at }) =>
        created_at ? <Time at={created_at} /> : <span className="text-muted">always there</span>,
    },
    { id: 'actions', header: '', width: '12rem', align: 'right', cell: (one) => may && <Actions of={one} /> },
  ];
}

/** Leads to what it has: the whole dashboard is about the environment that is chosen. */
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
        {current && 'shown now'}
        <span className="md:hidden">
          {current && ' · '}
          {deleting_at ? 'being deleted' : archived_at ? 'archived' : KINDS[kind]}
        </span>
      </p>
    </div>
  );
}

function State({ of: { archived_at, deleting_at } }: { of: Environment }) {
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
        open
      </Badge>
    );
  }
  return (
    <Badge tone="neutral" icon="box" title={`Since ${new Date(archived_at).toLocaleString()}`}>
      archived
    </Badge>
  );
}

function Actions({ of: { name, kind, archived_at, deleting_at } }: { of: Environment }) {
  const path = `/v1/environments/${encodeURIComponent(name)}`;
  const archive = useDeed({
    act: () => callApi(`${path}/archive`, { method: 'POST' }),
    told: `${name} is archived`,
    changes: 'environments',
  });
  const unarchive = useDeed({
    act: () => callApi(`${path}/unarchive`, { method: 'POST' }),
    told: `${name} takes events again`,
    changes: 'environments',
  });
  const remove = useDeed({
    act: () => callApi(path, { method: 'DELETE' }),
    told: `${name} is being deleted`,
    changes: 'environments',
  });
  if (name === PRODUCTION || deleting_at) return null;
  if (archived_at) {
    return (
      <div className="flex justify-end gap-2">
        <Button busy={unarchive.isPending} onClick={() => unarchive.mutate()}>
          Unarchive
        </Button>
        {kind === 'branch' && (
          <ConfirmButton
            title={`Delete ${name}?`}
            text="Its events, runs, apps and functions are deleted with it, and API keys that are held to it are revoked. This cannot be undone."
            confirmLabel="Delete it"
            onConfirm={() => remove.mutateAsync().catch(() => {})}
          >
            Delete
          </ConfirmButton>
        )}
      </div>
    );
  }
  return (
    <ConfirmButton
      variant="plain"
      title={`Archive ${name}?`}
      text="It refuses new events from then on: senders are answered 403. What it has stays readable, runs that are under way go on, and it can be taken out of the archive again."
      confirmLabel="Archive it"
      onConfirm={() => archive.mutateAsync().catch(() => {})}
    >
      Archive
    </ConfirmButton>
  );
}

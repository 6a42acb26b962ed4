import { getRouteApi, Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { ListedFunction } from '../../api/types.ts';
import { useRegistrationCommand } from '../../features/apps/registration-command.ts';
import { useFunctions } from '../../features/functions/queries.ts';
import { useStats } from '../../features/functions/stats.ts';
import { Button } from '../../ui/button.tsx';
import { DataTable } from '../../ui/data-table.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { Select, TextField } from '../../ui/field.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Page } from '../../ui/page.tsx';
import { columnsWith } from './columns.tsx';

const route = getRouteApi('/functions');

export default function FunctionsPage() {
  const { q, app, archived = false } = route.useSearch();
  const navigate = route.useNavigate();
  const { functions, error, refetch } = useFunctions(archived);
  const stats = useStats();
  const columns = useMemo(() => columnsWith(stats), [stats]);
  const matching = useMemo(() => functions?.filter((fn) => matches(fn, q, app)), [functions, q, app]);
  return (
    <Page
      title="Functions"
      description="Functions that your apps have registered, with their runs of the last 24 hours."
    >
      <Filters apps={[...new Set((functions ?? []).flatMap((fn) => (fn.destination === null ? fn.app : [])))].sort()} />
      {error && !functions && <ErrorAlert error={error} onRetry={() => void refetch()} />}
      {!functions && !error && <Loading rows={8} />}
      {matching?.length === 0 && <NoFunctions searched={q !== undefined || app !== undefined} archived={archived} />}
      {matching && matching.length > 0 && (
        <DataTable
          label="Functions"
          columns={columns}
          rows={matching}
          rowKey={({ id }) => id}
          rowHeight={56}
          onOpen={({ id }) => void navigate({ to: '/functions/$id', params: { id } })}
        />
      )}
    </Page>
  );
}

function matches({ id, name, app, group, triggers = [] }: ListedFunction, query = '', wantedApp?: string): boolean {
  if (wantedApp !== undefined && app !== wantedApp) return false;
  const text = [id, name, group, ...triggers.map(({ event, cron }) => event ?? cron)].join(' ').toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

function Filters({ apps }: { apps: readonly string[] }) {
  const { q, app, archived = false } = route.useSearch();
  const navigate = route.useNavigate();
  const set = (changes: object) =>
    void navigate({ search: (before) => ({ ...before, ...changes }) as never, replace: true });
  const names = app === undefined || apps.includes(app) ? apps : [...apps, app];
  return (
    <div className="mb-4 flex flex-wrap items-center gap-2">
      <div className="min-w-0 flex-1 basis-full sm:max-w-80 sm:basis-auto">
        <TextField
          label="Search functions"
          hideLabel
          type="search"
          data-page-search
          placeholder="Name, ID, group or trigger"
          value={q ?? ''}
          onChange={({ target }) => set({ q: target.value || undefined })}
        />
      </div>
      <div className="w-44">
        <Select
          label="App"
          hideLabel
          value={app ?? ''}
          onChange={({ target }) => set({ app: target.value || undefined })}
        >
          <option value="">All apps</option>
          {names.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </Select>
      </div>
      <Button
        variant="ghost"
        icon={archived ? 'check' : 'box'}
        aria-pressed={archived}
        onClick={() => set({ archived: archived ? undefined : true })}
      >
        Archived
      </Button>
    </div>
  );
}

function NoFunctions({ searched, archived }: { searched: boolean; archived: boolean }) {
  const command = useRegistrationCommand();
  if (searched) {
    return (
      <EmptyState title="No matching functions">
        <Link to="/functions" className="text-accent underline">
          Clear filters
        </Link>
      </EmptyState>
    );
  }
  if (archived)
    return (
      <EmptyState title="No archived functions">
        Functions appear here when their app no longer registers them.
      </EmptyState>
    );
  return (
    <EmptyState title="No functions registered" command={command}>
      Apps host functions and register them. Start an app, then register it:
    </EmptyState>
  );
}

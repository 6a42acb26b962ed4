import type { FailedSignIn } from '../../api/types.ts';
import { useList } from '../../api/use-list.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Time } from '../../ui/time.tsx';

const REASONS: Record<string, string> = {
  sign_in_failed: 'wrong email address or password',
  too_many_attempts: 'too many attempts',
  link_invalid: 'the link was not valid',
};

const COLUMNS: Column<FailedSignIn>[] = [
  { id: 'last', header: 'Last', width: '5.5rem', cell: ({ last_at }) => <Time at={last_at} /> },
  { id: 'count', header: 'Times', width: '4rem', cell: ({ count }) => count.toLocaleString() },
  {
    id: 'name',
    header: 'As whom',
    width: 'minmax(0, 1.5fr)',
    cell: ({ name }) => (
      <span className="block truncate" title={name ?? undefined}>
        {name ?? <span className="text-muted">several or nobody</span>}
      </span>
    ),
  },
  {
    id: 'what',
    header: 'What',
    width: 'minmax(0, 1.5fr)',
    hideOnMobile: true,
    cell: ({ action, reason }) => (
      <span className="block truncate">
        {action}: {REASONS[reason] ?? reason}
      </span>
    ),
  },
  {
    id: 'address',
    header: 'From',
    width: 'minmax(0, 10rem)',
    cell: ({ address }) => <span className="block truncate font-mono text-xs">{address}</span>,
  },
  { id: 'first', header: 'First', width: '5.5rem', hideOnMobile: true, cell: ({ first_at }) => <Time at={first_at} /> },
];

/** Those of a kind are one row: anybody can cause any number. */
export function FailedSignIns() {
  const {
    rows,
    error,
    loadMore: more,
    loadingMore,
    refetch: again,
  } = useList<FailedSignIn>(['refusals'], '/v1/audit/refusals');
  if (error && !rows) return <ErrorAlert error={error} onRetry={again} />;
  if (!rows) return <Loading rows={10} />;
  if (rows.length === 0)
    return <EmptyState title="Nobody was refused">Failed attempts to sign in will stand here.</EmptyState>;
  return (
    <DataTable
      label="Refused attempts"
      columns={COLUMNS}
      rows={rows}
      rowKey={({ id }) => id}
      onEndReached={more}
      loadingMore={loadingMore}
      rowHeight={44}
    />
  );
}

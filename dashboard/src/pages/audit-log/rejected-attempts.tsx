import type { RejectedAttempt } from '../../api/types.ts';
import { useList } from '../../api/use-list.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Time } from '../../ui/time.tsx';

const REASONS: Record<string, string> = {
  sign_in_failed: 'wrong email address or password',
  too_many_attempts: 'too many attempts',
  link_invalid: 'invalid link',
};

const COLUMNS: Column<RejectedAttempt>[] = [
  { id: 'last', header: 'Last', width: '5.5rem', cell: ({ last_at }) => <Time at={last_at} /> },
  { id: 'count', header: 'Count', width: '4rem', cell: ({ count }) => count.toLocaleString() },
  {
    id: 'name',
    header: 'User',
    width: 'minmax(0, 1.5fr)',
    cell: ({ name }) => (
      <span className="block truncate" title={name ?? undefined}>
        {name ?? <span className="text-muted">multiple or unknown</span>}
      </span>
    ),
  },
  {
    id: 'attempt',
    header: 'Attempt',
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
    header: 'IP address',
    width: 'minmax(0, 10rem)',
    cell: ({ address }) => <span className="block truncate font-mono text-xs">{address}</span>,
  },
  { id: 'first', header: 'First', width: '5.5rem', hideOnMobile: true, cell: ({ first_at }) => <Time at={first_at} /> },
];

/** Similar attempts share a row, because anyone can cause any number of them. */
export function RejectedAttempts() {
  const { rows, error, loadMore, loadingMore, refetch } = useList<RejectedAttempt>(['refusals'], '/v1/audit/refusals');
  if (error && !rows) return <ErrorAlert error={error} onRetry={refetch} />;
  if (!rows) return <Loading rows={10} />;
  if (rows.length === 0) return <EmptyState title="No rejected attempts">Failed sign-ins appear here.</EmptyState>;
  return (
    <DataTable
      label="Rejected attempts"
      columns={COLUMNS}
      rows={rows}
      rowKey={({ id }) => id}
      onEndReached={loadMore}
      loadingMore={loadingMore}
      rowHeight={44}
    />
  );
}

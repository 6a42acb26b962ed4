import type { RejectedAttempt } from '../../api/types.ts';
import { useList } from '../../api/use-list.ts';
import type { Column } from '../../ui/data-table.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { ListTable } from '../../ui/list-table.tsx';
import { Time } from '../../ui/time.tsx';

const REASONS: Record<string, string> = {
  sign_in_failed: 'wrong email address or password',
  too_many_attempts: 'too many attempts',
  second_factor_invalid: 'wrong code or passkey, after the right password',
  sign_in_interrupted: 'ended, or began in another browser',
  link_invalid: 'invalid link',
  password_sign_in_off: 'password sign-in is off',
  sso_interrupted: 'did not begin in this browser, or has ended',
  sso_rejected: 'answer of the provider not accepted',
  email_unverified: 'email address not verified',
  domain_refused: 'email domain not allowed',
  not_invited: 'not invited',
  email_taken: 'email address of another user',
  role_missing: 'no group with a role',
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

/** Similar attempts share a row, because anyone can cause any number. */
export function RejectedAttempts() {
  const attempts = useList<RejectedAttempt>(['refusals'], '/v1/audit/refusals');
  return (
    <ListTable
      list={attempts}
      label="Rejected attempts"
      columns={COLUMNS}
      rowKey={({ id }) => id}
      empty={<EmptyState title="No rejected attempts">Failed sign-ins appear here.</EmptyState>}
    />
  );
}

import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { Alert } from '../../api/types.ts';
import { useList } from '../../api/use-list.ts';
import { alertLink, alertTitle } from '../../features/alerts/alert.ts';
import type { Column } from '../../ui/data-table.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { ListTable } from '../../ui/list-table.tsx';
import { Badge } from '../../ui/status-badge.tsx';
import { Time } from '../../ui/time.tsx';

const POLL_MS = 10_000;

export function Alerts({ state }: { state: Alert['state'] }) {
  const alerts = useList<Alert>(['alerts', state], '/v1/alerts', { state }, { pollMs: () => POLL_MS });
  const columns = useMemo(() => columnsOf(state), [state]);
  const empty =
    state === 'open' ? (
      <EmptyState title="No open alerts">Nothing is wrong, as far as the rules can tell.</EmptyState>
    ) : (
      <EmptyState title="No past alerts">Alerts stay here for 30 days after they are over.</EmptyState>
    );
  return (
    <ListTable
      list={alerts}
      label={state === 'open' ? 'Open alerts' : 'Past alerts'}
      columns={columns}
      rowKey={({ id }) => id}
      rowHeight={76}
      empty={empty}
    />
  );
}

function columnsOf(state: Alert['state']): Column<Alert>[] {
  return [
    { id: 'severity', header: 'Severity', width: '6.5rem', hideOnMobile: true, cell: (one) => <Severity of={one} /> },
    {
      id: 'alert',
      header: 'Alert',
      width: 'minmax(0, 1fr)',
      cell: ({ title, subject_name, detail, path }) => (
        <div className="min-w-0">
          <Link
            {...alertLink(path)}
            title={detail}
            className="line-clamp-2 font-medium break-words hover:text-accent hover:underline"
          >
            {alertTitle({ title, subject_name })}
          </Link>
          <p className="truncate text-xs text-muted">{detail}</p>
        </div>
      ),
    },
    { id: 'since', header: 'Since', width: '6rem', cell: ({ since }) => <Time at={since} /> },
    ...(state === 'open'
      ? []
      : [
          {
            id: 'until',
            header: 'Resolved',
            width: '6rem',
            hideOnMobile: true,
            cell: ({ resolved_at }: Alert) => <Time at={resolved_at} />,
          },
        ]),
  ];
}

function Severity({ of: { severity } }: { of: Pick<Alert, 'severity'> }) {
  return (
    <Badge tone={severity === 'critical' ? 'bad' : 'warn'} icon="warning">
      {severity}
    </Badge>
  );
}

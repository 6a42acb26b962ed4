import { Link } from '@tanstack/react-router';
import type { FunctionStats, ListedFunction } from '../../api/types.ts';
import { FunctionStatus } from '../../features/functions/function-status.tsx';
import { emptyStats, failureRate } from '../../features/functions/stats.ts';
import { TriggerSummary } from '../../features/functions/triggers.tsx';
import { formatCount, formatPercent } from '../../lib/format.ts';
import type { Column } from '../../ui/data-table.tsx';
import { Sparkline } from '../../ui/sparkline.tsx';
import { Time } from '../../ui/time.tsx';

/** @param stats undefined: still loading */
export function columnsWith(stats: ReadonlyMap<string, FunctionStats> | undefined): Column<ListedFunction>[] {
  const statsOf = (id: string) => stats && (stats.get(id) ?? emptyStats(id));
  return [
    { id: 'name', header: 'Function', width: 'minmax(0, 3fr)', cell: (fn) => <Name fn={fn} /> },
    {
      id: 'triggers',
      header: 'Triggers',
      width: 'minmax(0, 3fr)',
      hideOnMobile: true,
      cell: ({ triggers }) => <TriggerSummary triggers={triggers} />,
    },
    { id: 'status', header: 'Status', width: '6rem', hideOnMobile: true, cell: (fn) => <FunctionStatus fn={fn} /> },
    {
      id: 'runs',
      header: 'Runs, 24 h',
      width: 'clamp(5rem, 14vw, 10rem)',
      align: 'right',
      cell: ({ id }) => <Runs stats={statsOf(id)} />,
    },
    {
      id: 'failures',
      header: 'Failed',
      width: '3.5rem',
      align: 'right',
      cell: ({ id }) => <Failures stats={statsOf(id)} />,
    },
    {
      id: 'last',
      header: 'Last run',
      width: '5.5rem',
      align: 'right',
      hideOnMobile: true,
      cell: ({ id }) => <LastRun stats={statsOf(id)} />,
    },
  ];
}

function Runs({ stats }: { stats: FunctionStats | undefined }) {
  if (!stats) return <span className="text-muted">–</span>;
  const { started, failed, hours } = stats;
  const label = `${formatCount(started)} ${started === 1 ? 'run' : 'runs'} by hour, ${formatCount(failed)} failed`;
  return (
    <span className="flex items-center justify-end gap-2">
      {hours && (
        <span className="hidden md:contents">
          <Sparkline label={label} counts={hours.started} bad={hours.failed} className="w-20" />
        </span>
      )}
      <span className="min-w-10">{formatCount(started)}</span>
    </span>
  );
}

function LastRun({ stats }: { stats: FunctionStats | undefined }) {
  return (
    <span className="text-sm text-muted" title={stats?.last_started_at === null ? 'None in 24 hours' : undefined}>
      <Time at={stats?.last_started_at} />
    </span>
  );
}

function Name({ fn: { id, name, app, destination, group } }: { fn: ListedFunction }) {
  return (
    <>
      <Link
        to="/functions/$id"
        params={{ id }}
        title={id}
        className="block font-medium break-words hover:text-accent hover:underline"
      >
        {name}
      </Link>
      <p className="truncate text-xs text-muted">
        {destination === null ? <AppLink name={app} /> : 'destination'}
        {group && ` · ${group}`}
      </p>
    </>
  );
}

function AppLink({ name }: { name: string }) {
  return (
    <Link to="/apps/$name" params={{ name }} className="hover:text-accent hover:underline">
      {name}
    </Link>
  );
}

function Failures({ stats }: { stats: FunctionStats | undefined }) {
  const share = stats && failureRate(stats);
  if (share === undefined) return <span className="text-muted">–</span>;
  return (
    <Link
      to="/runs"
      search={{ function: stats?.function_id, status: 'Failed', from: '24h' } as never}
      title={`${stats?.failed} of ${(stats?.completed ?? 0) + (stats?.failed ?? 0)} failed`}
      className={share > 0 ? 'font-medium text-bad hover:underline' : 'text-muted hover:underline'}
    >
      {formatPercent(share)}
    </Link>
  );
}

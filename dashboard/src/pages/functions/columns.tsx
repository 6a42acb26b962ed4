import { Link } from '@tanstack/react-router';
import type { FunctionStats, ListedFunction } from '../../api/types.ts';
import { FunctionStatus } from '../../features/functions/function-status.tsx';
import { emptyStats, failureRate } from '../../features/functions/stats.ts';
import { TriggerSummary } from '../../features/functions/triggers.tsx';
import { formatPercent } from '../../lib/format.ts';
import type { Column } from '../../ui/data-table.tsx';

/** @param stats undefined: still loading */
export function columnsWith(stats: ReadonlyMap<string, FunctionStats> | undefined): Column<ListedFunction>[] {
  const statsOf = (id: string) => stats && (stats.get(id) ?? emptyStats(id));
  return [
    { id: 'name', header: 'Function', width: 'minmax(0, 2fr)', cell: (fn) => <Name fn={fn} /> },
    {
      id: 'triggers',
      header: 'Triggers',
      width: 'minmax(0, 2fr)',
      hideOnMobile: true,
      cell: ({ triggers }) => <TriggerSummary triggers={triggers} />,
    },
    {
      id: 'app',
      header: 'App',
      width: 'minmax(0, 1fr)',
      hideOnMobile: true,
      cell: ({ app, destination, group }) => (
        <>
          {destination === null ? <AppLink name={app} /> : <span className="text-muted">destination</span>}
          {group && <p className="truncate text-xs text-muted">{group}</p>}
        </>
      ),
    },
    { id: 'status', header: 'Status', width: '6rem', cell: (fn) => <FunctionStatus fn={fn} /> },
    {
      id: 'volume',
      header: 'Runs, 24 h',
      width: '5.5rem',
      align: 'right',
      hideOnMobile: true,
      cell: ({ id }) => statsOf(id)?.started.toLocaleString() ?? '–',
    },
    {
      id: 'failures',
      header: 'Failed',
      width: '4rem',
      align: 'right',
      cell: ({ id }) => <Failures stats={statsOf(id)} />,
    },
  ];
}

function Name({ fn: { id, name } }: { fn: ListedFunction }) {
  return (
    <>
      <Link to="/functions/$id" params={{ id }} className="block truncate font-medium hover:underline">
        {name}
      </Link>
      {name !== id && <p className="truncate font-mono text-xs text-muted">{id}</p>}
    </>
  );
}

function AppLink({ name }: { name: string }) {
  return (
    <Link to="/apps/$name" params={{ name }} className="block truncate text-muted hover:text-accent hover:underline">
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

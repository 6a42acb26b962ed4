import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { formatPercent } from '../../lib/format.ts';
import { Card } from '../../ui/page.tsx';
import { emptyStats, failureRate, useStats } from './stats.ts';

const PARTS = [
  ['completed', 'Completed', 'bg-good'],
  ['failed', 'Failed', 'bg-bad'],
  ['cancelled', 'Cancelled', 'bg-line-strong'],
] as const;

/** Runs of the function in the last 24 hours, by status. */
export function Last24Hours({ functionId }: { functionId: string }) {
  const all = useStats();
  const stats = all && (all.get(functionId) ?? emptyStats(functionId));
  const share = stats && failureRate(stats);
  const ended = stats ? stats.completed + stats.failed + stats.cancelled : 0;
  return (
    <Card title="Last 24 hours">
      <dl className="grid grid-cols-2 gap-4 p-4 sm:grid-cols-5">
        <Figure name="Started">{stats?.started.toLocaleString() ?? '–'}</Figure>
        {PARTS.map(([part, status]) => (
          <Figure key={part} name={status}>
            <Link
              to="/runs"
              search={{ function: functionId, status, from: '24h' } as never}
              className="hover:text-accent hover:underline"
            >
              {stats?.[part].toLocaleString() ?? '–'}
            </Link>
          </Figure>
        ))}
        <Figure name="Failure rate">{share === undefined ? '–' : formatPercent(share)}</Figure>
      </dl>
      {stats && ended > 0 && (
        <div aria-hidden="true" className="mx-4 mb-4 flex h-1.5 gap-0.5 overflow-hidden rounded-full">
          {PARTS.filter(([part]) => stats[part] > 0).map(([part, , color]) => (
            <div key={part} className={`min-w-1 ${color}`} style={{ flexGrow: stats[part], flexBasis: 0 }} />
          ))}
        </div>
      )}
    </Card>
  );
}

function Figure({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt className="text-xs text-muted">{name}</dt>
      <dd className="text-lg font-medium tabular-nums">{children}</dd>
    </div>
  );
}

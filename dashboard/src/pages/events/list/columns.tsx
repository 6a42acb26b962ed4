import { Link } from '@tanstack/react-router';
import type { RunSummary, Webhook } from '../../../api/types.ts';
import type { Column } from '../../../ui/data-table.tsx';
import { RunStatusBadge } from '../../../ui/status-badge.tsx';
import { Time } from '../../../ui/time.tsx';
import { Source } from '../event-source.tsx';
import type { EventRow } from './event-pages.ts';

export function columnsOf(webhooks: readonly Webhook[]): Column<EventRow>[] {
  return [
    {
      id: 'event',
      header: 'Event',
      width: 'minmax(0, 1.2fr)',
      cell: ({ internal_id, name, duplicates, runs }) => (
        <>
          <Link to="/events/$id" params={{ id: internal_id }} className="block truncate font-medium hover:underline">
            {name}
          </Link>
          <span className="flex items-center gap-2 text-xs text-muted">
            <span className="truncate font-mono">{internal_id}</span>
            {duplicates > 0 && <span className="whitespace-nowrap">+{duplicates} duplicates</span>}
          </span>
          <span className="mt-1 block md:hidden">
            <Runs runs={runs} />
          </span>
        </>
      ),
    },
    {
      id: 'runs',
      header: 'Runs',
      width: 'minmax(0, 1.4fr)',
      hideOnMobile: true,
      cell: ({ runs }) => <Runs runs={runs} />,
    },
    {
      id: 'source',
      header: 'Source',
      width: 'minmax(0, 11rem)',
      hideOnMobile: true,
      cell: ({ source }) => (
        <span className="block truncate text-sm">
          <Source source={source} webhooks={webhooks} />
        </span>
      ),
    },
    {
      id: 'received',
      header: 'Received',
      width: '6rem',
      align: 'right',
      cell: ({ received_at }) => (
        <span className="text-sm text-muted">
          <Time at={received_at} />
        </span>
      ),
    },
  ];
}

const SHOWN_RUNS = 3;

function Runs({ runs }: { runs: readonly RunSummary[] }) {
  if (runs.length === 0) return <span className="text-xs text-muted">No runs</span>;
  return (
    <span className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1">
      {runs.slice(0, SHOWN_RUNS).map(({ run_id, function_id, status }) => (
        <Link
          key={run_id}
          to="/runs/$id"
          params={{ id: run_id }}
          title={`${function_id}: ${status}`}
          className="inline-flex max-w-full min-w-0 items-center gap-1.5 hover:underline"
        >
          <RunStatusBadge status={status} />
          <span className="truncate text-sm text-muted">{function_id}</span>
        </Link>
      ))}
      {runs.length > SHOWN_RUNS && <span className="text-xs text-muted">and {runs.length - SHOWN_RUNS} more</span>}
    </span>
  );
}

import { Link } from '@tanstack/react-router';
import { LONG_WAIT_MS, longestWaitMs, type Queue } from '../../features/metrics/queue-waits.ts';
import { formatCount } from '../../lib/format.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { duration, useNow } from '../../ui/time.tsx';

const MEANINGS: Record<string, string> = {
  ingest: 'Stores accepted events, and starts their runs',
  runs: 'Calls functions, and wakes runs',
  timers: 'Schedules, batches, debounces and timeouts',
};

export function QueueTable({ queues }: { queues: readonly Queue[] }) {
  return <DataTable label="Queues" columns={COLUMNS} rows={queues} rowKey={({ name }) => name} rowHeight={60} />;
}

const COLUMNS: Column<Queue>[] = [
  {
    id: 'queue',
    header: 'Queue',
    width: 'minmax(7rem, 1fr)',
    cell: ({ name }) => (
      <>
        <span className="block font-medium">{name}</span>
        <span className="block text-xs text-muted">{MEANINGS[name]}</span>
      </>
    ),
  },
  { id: 'waiting', header: 'Waiting', width: '5rem', align: 'right', cell: ({ waiting }) => formatCount(waiting) },
  { id: 'oldest', header: 'Oldest', width: '5.5rem', align: 'right', cell: (queue) => <Oldest queue={queue} /> },
  {
    id: 'active',
    header: 'In work',
    width: '5rem',
    align: 'right',
    hideOnMobile: true,
    cell: ({ active }) => formatCount(active),
  },
  {
    id: 'processed',
    header: 'Last 5 min',
    width: '8rem',
    align: 'right',
    cell: (queue) => <Processed queue={queue} />,
  },
  {
    id: 'delayed',
    header: 'Due later',
    width: '5.5rem',
    align: 'right',
    hideOnMobile: true,
    cell: ({ delayed }) => formatCount(delayed),
  },
  {
    id: 'failed',
    header: 'Failed',
    width: '7rem',
    align: 'right',
    hideOnMobile: true,
    cell: (queue) => <Failed queue={queue} />,
  },
];

function Oldest({ queue }: { queue: Queue }) {
  const waitedMs = longestWaitMs([queue], useNow());
  if (waitedMs === undefined) return <span className="text-muted">–</span>;
  return <span className={waitedMs > LONG_WAIT_MS ? 'font-medium text-warn' : ''}>{duration(waitedMs)}</span>;
}

/** Attempts of jobs: a failed one may be repeated. */
function Processed({ queue: { processed } }: { queue: Queue }) {
  const { completed, failed, since } = processed;
  return (
    <span title={`Jobs since ${new Date(since).toLocaleTimeString()}; failed attempts may be repeated`}>
      {formatCount(completed)} done
      {failed > 0 && <span className="block text-xs text-bad">{formatCount(failed)} failed</span>}
    </span>
  );
}

/** A failed job of the queue `runs` is a failed run; one of the others is a dead letter. */
function Failed({ queue: { name, failed } }: { queue: Queue }) {
  if (failed === 0) return <span className="text-muted">–</span>;
  if (name !== 'runs') return <span className="font-medium text-bad">{formatCount(failed)} dead</span>;
  return (
    <Link to="/runs" search={{ status: 'Failed' } as never} className="hover:underline">
      {formatCount(failed)} {failed === 1 ? 'run' : 'runs'}
    </Link>
  );
}

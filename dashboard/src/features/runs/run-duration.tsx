import type { Run } from '../../api/types.ts';
import { duration, useNow } from '../../ui/time.tsx';
import { hasEnded, lengthOf } from './run.ts';

type Times = Pick<Run, 'status' | 'run_started_at' | 'ended_at'>;

/** How long a run took; of one under way, how long by now. */
export function Elapsed({ run }: { run: Times }) {
  if (!hasEnded(run)) return <Growing run={run} />;
  return <Length ms={lengthOf(run, 0)} />;
}

function Growing({ run }: { run: Times }) {
  return <Length ms={lengthOf(run, useNow())} growing />;
}

function Length({ ms, growing = false }: { ms: number | null; growing?: boolean }) {
  if (ms === null) return <span className="text-muted">–</span>;
  return (
    <span className="whitespace-nowrap tabular-nums">
      {growing && ms < 1_000 ? '< 1 s' : duration(growing ? Math.floor(ms / 1_000) * 1_000 : ms)}
      {growing && ' …'}
    </span>
  );
}

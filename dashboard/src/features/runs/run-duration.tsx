import type { Run } from '../../api/types.ts';
import { duration, useNow } from '../../ui/time.tsx';
import { hasEnded, runDurationMs } from './run.ts';

type Times = Pick<Run, 'status' | 'run_started_at' | 'ended_at'>;

/** How long a run took, or has taken so far. */
export function RunDuration({ run }: { run: Times }) {
  if (!hasEnded(run)) return <LiveDuration run={run} />;
  return <Duration ms={runDurationMs(run, 0)} />;
}

function LiveDuration({ run }: { run: Times }) {
  return <Duration ms={runDurationMs(run, useNow())} live />;
}

function Duration({ ms, live = false }: { ms: number | null; live?: boolean }) {
  if (ms === null) return <span className="text-muted">–</span>;
  return (
    <span className="whitespace-nowrap tabular-nums">
      {live && ms < 1_000 ? '< 1 s' : duration(live ? Math.floor(ms / 1_000) * 1_000 : ms)}
      {live && ' …'}
    </span>
  );
}

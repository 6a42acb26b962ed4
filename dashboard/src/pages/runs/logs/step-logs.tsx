import type { RunWithHistory } from '../../../api/types.ts';
import { LogLines } from './log-lines.tsx';
import { useRunLogs } from './use-run-logs.ts';

/** Lines that a step has logged, under its row of the timeline; nothing if there are none. */
export function StepLogs({ run, stepId }: { run: RunWithHistory; stepId: string }) {
  const { data } = useRunLogs(run.run_id);
  const lines = data?.lines.filter(({ step_id }) => step_id === stepId) ?? [];
  const [first] = lines;
  if (!first) return null;
  const starts = run.history.flatMap(({ step_id, started_at }) =>
    step_id === stepId && started_at !== null ? [Date.parse(started_at)] : [],
  );
  // A step that runs has no entry yet.
  const startMs = Math.min(...starts, Date.parse(first.at));
  return (
    <section aria-label="Logs of the step" className="rounded-md border border-line bg-surface">
      <LogLines label="Logs of the step" lines={lines} startMs={startMs} />
    </section>
  );
}

/** A run as the dashboard holds it. */
import type { ListedRun as ApiListedRun, Run } from '../../api/types.ts';

/** Without its output, which may be megabytes. */
export type ListedRun = Omit<ApiListedRun, 'output' | 'error' | 'omitted'> & { error: string | null };

export function toListedRun({ output: _, omitted: __, error = null, ...run }: ApiListedRun): ListedRun {
  return { ...run, error: error && `${error.name}: ${error.message}` };
}

export function hasEnded({ status }: Pick<Run, 'status'>): boolean {
  return status === 'Completed' || status === 'Failed' || status === 'Cancelled';
}

/** null: it has not started, or a live update reported its end without the time. */
export function runDurationMs(run: Pick<Run, 'status' | 'run_started_at' | 'ended_at'>, nowMs: number): number | null {
  const { run_started_at, ended_at } = run;
  if (run_started_at === null || (hasEnded(run) && ended_at === null)) return null;
  return Math.max(0, (ended_at === null ? nowMs : Date.parse(ended_at)) - Date.parse(run_started_at));
}

/** A run as these pages hold it. */
import type { ListedRun as Answered, Run } from '../../api/types.ts';

/** In a list: without its output, which may have megabytes. */
export type ListedRun = Omit<Run, 'output' | 'error'> & { error: string | null };

export function toListedRun({ output: _, omitted: __, error = null, ...run }: Answered): ListedRun {
  return { ...run, error: error && `${error.name}: ${error.message}` };
}

export function hasEnded({ status }: Pick<Run, 'status'>): boolean {
  return status === 'Completed' || status === 'Failed' || status === 'Cancelled';
}

/** How long it has been going, or went, in milliseconds; null: it has not begun, or the news that it has ended came without the time. */
export function runDurationMs(run: Pick<Run, 'status' | 'run_started_at' | 'ended_at'>, nowMs: number): number | null {
  const { run_started_at, ended_at } = run;
  if (run_started_at === null || (hasEnded(run) && ended_at === null)) return null;
  return Math.max(0, (ended_at === null ? nowMs : Date.parse(ended_at)) - Date.parse(run_started_at));
}

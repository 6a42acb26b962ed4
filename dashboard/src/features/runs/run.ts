/** A run as the dashboard holds it. */
import type { ListedRun as ApiListedRun, Run } from '../../api/types.ts';

/** The fields of a run that lists show: a list may have 10,000 runs. */
export type ListedRun = Pick<
  ApiListedRun,
  | 'run_id'
  | 'function_id'
  | 'event_id'
  | 'status'
  | 'queued_at'
  | 'run_started_at'
  | 'ended_at'
  | 'replay_id'
  | 'event_name'
  | 'event_gist'
  | 'event_user'
> &
  // A live update may not tell it.
  Partial<Pick<ApiListedRun, 'state'>> & { error: string | null };

export function toListedRun({ error = null, ...run }: ApiListedRun): ListedRun {
  const { run_id, function_id, event_id, status, queued_at, run_started_at, ended_at, replay_id } = run;
  const { event_name, event_gist, event_user, state } = run;
  return {
    run_id,
    function_id,
    event_id,
    status,
    queued_at,
    run_started_at,
    ended_at,
    replay_id,
    ...(event_name !== undefined && { event_name }),
    ...(event_gist !== undefined && { event_gist }),
    ...(event_user !== undefined && { event_user }),
    ...(state !== undefined && { state }),
    error: error && `${error.name}: ${error.message}`,
  };
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

/** Lists are sorted newest first, by time, then by ID. */
export function isOlder(run: ListedRun, than: ListedRun): boolean {
  if (run.queued_at !== than.queued_at) return run.queued_at < than.queued_at;
  return run.run_id < than.run_id;
}

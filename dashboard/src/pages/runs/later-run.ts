import { callApi } from '../../api/client.ts';
import type { Run } from '../../api/types.ts';

export type RerunRef = Pick<Run, 'run_id' | 'event_id' | 'function_id' | 'queued_at'>;

const LIMIT = 100;

/** The runs of the same function on the same event, newest first. */
export function runsLikeQuery(env: string, { run_id, event_id, function_id }: RerunRef) {
  return {
    queryKey: ['run-reruns', env, run_id],
    queryFn: ({ signal }: { signal: AbortSignal }) =>
      callApi<Run[]>('/v1/runs', { env, signal, query: { event_id, function_id, limit: LIMIT } }),
  };
}

/** The newest run that did the work of this run again: a re-run, or one of a replay, as bulk re-runs see it.
 *  @param like as `runsLikeQuery` returns them */
export function laterRunOf({ run_id, queued_at }: RerunRef, like: readonly Run[]): Run | undefined {
  const newest = like[0];
  return newest && newest.run_id !== run_id && newest.queued_at >= queued_at ? newest : undefined;
}

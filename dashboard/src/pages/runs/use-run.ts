import { useQuery, useQueryClient } from '@tanstack/react-query';
import { callApi } from '../../api/client.ts';
import { useEnv } from '../../api/environment.ts';
import { useLiveUpdates } from '../../api/live-updates.ts';
import type { Run, RunWithHistory, StoredEvent } from '../../api/types.ts';
import { hasEnded } from '../../features/runs/run.ts';
import { useThrottled } from '../../lib/use-throttled.ts';
import { type RerunRef, runsLikeQuery } from './later-run.ts';

/** In case live updates are lost. */
const POLL_MS = 5_000;
/** Other runs decide how long it waits. */
const LIMITED_POLL_MS = 2_000;

/** A run, updated live until it has ended. */
export function useRun(id: string) {
  const env = useEnv();
  const queries = useQueryClient();
  const refetch = useThrottled(async () => {
    const keys = [
      ['run', env, id],
      ['run-reruns', env, id],
    ];
    await Promise.all(keys.map((queryKey) => queries.invalidateQueries({ queryKey })));
  });
  useLiveUpdates('runs', ({ runs }) => {
    if (!runs.some(({ run_id, event_id }) => run_id === id || event_id === eventId)) return;
    refetch();
  });
  useLiveUpdates('hello', refetch);
  const result = useQuery({
    queryKey: ['run', env, id],
    queryFn: ({ signal }) => callApi<RunWithHistory>(`/v1/runs/${encodeURIComponent(id)}`, { env, signal }),
    refetchInterval: ({ state }) => pollMs(state.data?.data),
  });
  const eventId = result.data?.data.event_id;
  return result;
}

function pollMs(run: RunWithHistory | undefined): number | false {
  if (!run || hasEnded(run)) return false;
  return run.waiting ? LIMITED_POLL_MS : POLL_MS;
}

/** The event that triggered the run; error `not_found` once it is deleted. */
export function useTriggerEvent(eventId: string) {
  const env = useEnv();
  return useQuery({
    queryKey: ['event-data', env, eventId],
    queryFn: ({ signal }) => callApi<StoredEvent>(`/v1/events/${encodeURIComponent(eventId)}`, { env, signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** The runs of its function on its event, newest first. */
export function useRunsLike(run: RerunRef): readonly Run[] {
  return useQuery(runsLikeQuery(useEnv(), run)).data?.data ?? [];
}

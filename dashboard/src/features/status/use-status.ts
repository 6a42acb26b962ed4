/** Whether the service works, and how much needs attention: one request for all pages. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { ApiError, callApi } from '../../api/client.ts';
import { useEnv } from '../../api/environment.ts';
import { useLiveState, useLiveUpdates } from '../../api/live-updates.ts';
import type { Status } from '../../api/types.ts';
import { useThrottled } from '../../lib/use-throttled.ts';

const REFETCH_MS = 10_000;
const REFETCH_DURING_OUTAGE_MS = 2_000;
/** A connection that is renewed sooner, or a response that comes sooner, is no outage: a deploy, a proxy's limit. */
const BROKEN_AFTER_MS = 3_000;
/** Codes of responses of a service that cannot reach its Redis. */
const STORE_CODES = new Set(['unavailable', 'overloaded']);

export type ServiceState = 'unknown' | 'live' | 'reconnecting' | 'store_unreachable' | 'no_worker' | 'rejecting';

export function useStatus() {
  const env = useEnv();
  return useQuery({
    queryKey: ['status', env],
    queryFn: async ({ signal }) => (await callApi<Status>('/v1/status', { env, signal })).data,
    refetchInterval: ({ state }) => (isOutage(state.error) ? REFETCH_DURING_OUTAGE_MS : REFETCH_MS),
    staleTime: REFETCH_MS,
    retry: false,
  });
}

function isOutage(error: Error | null): boolean {
  return error instanceof ApiError && (error.status === 0 || STORE_CODES.has(error.code));
}

/** Whether the URL names an environment that does not exist. */
export function useIsUnknownEnvironment(): boolean {
  const { error } = useStatus();
  return error instanceof ApiError && error.code === 'environment_unknown';
}

export function useServiceState(): ServiceState {
  const { data, error, isFetching } = useStatus();
  const isBroken = useIsLong(useLiveState() === 'broken');
  const isLate = useIsLong(isFetching);
  if (error instanceof ApiError && error.status === 0) return 'reconnecting';
  if (error instanceof ApiError && STORE_CODES.has(error.code)) return 'store_unreachable';
  if (isBroken || isLate) return 'reconnecting';
  if (!data) return 'unknown';
  if (data.workers_alive === 0) return 'no_worker';
  return data.accepts_events ? 'live' : 'rejecting';
}

/** Refetches the counts on live updates, and all shown data after an outage. */
export function useCurrentStatus(): void {
  const queries = useQueryClient();
  const refetch = useThrottled(() => queries.invalidateQueries({ queryKey: ['status'] }));
  useLiveUpdates('hello', refetch);
  useLiveUpdates('held-events', refetch);
  useLiveUpdates('webhook-issues', refetch);
  useLiveUpdates('runs', ({ runs }) => {
    if (runs.some(({ status }) => status === 'Failed')) refetch();
  });
  const state = useServiceState();
  const isDown = state === 'reconnecting' || state === 'store_unreachable';
  const wasDown = useRef(false);
  useEffect(() => {
    if (wasDown.current && !isDown) void queries.invalidateQueries();
    wasDown.current = isDown;
  }, [isDown, queries]);
}

/** Whether it has been so for a while. */
function useIsLong(isSo: boolean): boolean {
  const [isLong, setIsLong] = useState(false);
  useEffect(() => {
    setIsLong(false);
    if (!isSo) return;
    const timer = setTimeout(() => setIsLong(true), BROKEN_AFTER_MS);
    return () => clearTimeout(timer);
  }, [isSo]);
  return isLong;
}

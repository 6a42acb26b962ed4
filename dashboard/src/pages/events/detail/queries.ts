/** Reading one event, and what it caused. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { ApiError, ask } from '../../../api/client.ts';
import { useLive } from '../../../api/live-updates.ts';
import type { Arrival, ListedRun, StoredEvent } from '../../../api/types.ts';
import type { EventToSend } from '../../../features/events/snippets/target.ts';

const RETRY_MS = 300;
/** An event that was just sent is stored within a moment. */
const YOUNG_TRIES = 10;
const YOUNG_MS = 10_000;

export function useEvent(env: string, id: string) {
  return useQuery({
    queryKey: ['events', env, 'one', id],
    queryFn: ({ signal }) => ask<StoredEvent>(`/v1/events/${encodeURIComponent(id)}`, { env, signal }),
    retry: (tries, error) => {
      const missing = error instanceof ApiError && error.status === 404;
      return missing ? tries < YOUNG_TRIES && isYoung(id) : tries < 2;
    },
    retryDelay: RETRY_MS,
    // Only its count of duplicates may change.
    refetchInterval: 15_000,
  });
}

/** Its runs, read anew whenever one of them moves. */
export function useRunsOf(env: string, id: string, enabled: boolean) {
  const queries = useQueryClient();
  const queryKey = ['events', env, 'one', id, 'runs'];
  const readAnew = () => void queries.invalidateQueries({ queryKey });
  useLive('runs', ({ runs }) => {
    if (runs.some(({ event_id }) => event_id === id)) readAnew();
  });
  useLive('hello', readAnew);
  return useQuery({
    queryKey,
    queryFn: ({ signal }) => ask<ListedRun[]>(`/v1/events/${encodeURIComponent(id)}/runs`, { env, signal }),
    enabled,
    // News may be missed.
    refetchInterval: ({ state }) => (state.data?.data.every(({ ended_at }) => ended_at) ? 15_000 : 2_000),
  });
}

export function useArrival(env: string, id: string) {
  return useQuery({
    queryKey: ['events', env, 'one', id, 'arrival'],
    queryFn: ({ signal }) => ask<Arrival>(`/v1/events/${encodeURIComponent(id)}/arrival`, { env, signal }),
    staleTime: 60_000,
  });
}

/** As it would be sent once more.
 *  @param same with its deduplication ID and its time, rather than as a new event */
export function toSend({ name, data, id, ts, user, v }: StoredEvent, same: boolean): EventToSend {
  return {
    name,
    data,
    ...(same && id !== null && { id }),
    ...(same && { ts }),
    ...(user !== undefined && { user }),
    ...(v !== undefined && { v }),
  };
}

const ULID_DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** Whether its ID was made just now: a ULID begins with its time, 10 digits of 5 bits. */
function isYoung(id: string): boolean {
  const ms = [...id.slice(0, 10).toUpperCase()].reduce((sum, digit) => sum * 32 + ULID_DIGITS.indexOf(digit), 0);
  return Math.abs(Date.now() - ms) < YOUNG_MS;
}

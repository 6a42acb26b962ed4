/** Queries for one event, its source and its runs. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { ApiError, callApi } from '../../../api/client.ts';
import { useLiveUpdates } from '../../../api/live-updates.ts';
import type { EventDecision, EventProvenance, ListedRun, StoredEvent } from '../../../api/types.ts';
import type { EventToSend } from '../../../features/events/snippets/target.ts';

const RETRY_MS = 300;
/** A new event is stored within a moment. */
const NEW_EVENT_TRIES = 10;
const NEW_EVENT_MS = 10_000;

export function useEvent(env: string, id: string) {
  return useQuery({
    queryKey: ['events', env, 'one', id],
    queryFn: ({ signal }) => callApi<StoredEvent>(`/v1/events/${encodeURIComponent(id)}`, { env, signal }),
    retry: (tries, error) => {
      const missing = error instanceof ApiError && error.status === 404;
      return missing ? tries < NEW_EVENT_TRIES && isNewEvent(id) : tries < 2;
    },
    retryDelay: RETRY_MS,
    // Only the number of duplicates changes.
    refetchInterval: 15_000,
  });
}

/** Refetched whenever one of the runs changes. */
export function useEventRuns(env: string, id: string, enabled: boolean) {
  const queries = useQueryClient();
  const queryKey = ['events', env, 'one', id, 'runs'];
  const refetch = () => void queries.invalidateQueries({ queryKey });
  useLiveUpdates('runs', ({ runs }) => {
    if (runs.some(({ event_id }) => event_id === id)) refetch();
  });
  useLiveUpdates('hello', refetch);
  return useQuery({
    queryKey,
    queryFn: ({ signal }) =>
      callApi<ListedRun[]>(`/v1/events/${encodeURIComponent(id)}/runs`, {
        env,
        signal,
        query: { exclude: 'output,error' },
      }),
    enabled,
    // Live updates may be lost.
    refetchInterval: ({ state }) => (state.data?.data.every(({ ended_at }) => ended_at) ? 15_000 : 2_000),
  });
}

/** Refetched whenever the event is ingested or one of its runs changes. */
export function useEventDecisions(env: string, id: string) {
  const queries = useQueryClient();
  const queryKey = ['events', env, 'one', id, 'decisions'];
  const refetch = () => void queries.invalidateQueries({ queryKey });
  useLiveUpdates('runs', ({ runs }) => {
    if (runs.some(({ event_id }) => event_id === id)) refetch();
  });
  useLiveUpdates('events', ({ events }) => {
    if (events.some(({ internal_id }) => internal_id === id)) refetch();
  });
  useLiveUpdates('hello', refetch);
  return useQuery({
    queryKey,
    queryFn: ({ signal }) =>
      callApi<EventDecision[]>(`/v1/events/${encodeURIComponent(id)}/decisions`, {
        env,
        signal,
        query: { limit: 100 },
      }),
    // Live updates may be lost, and runs of batches and debounces belong to other events.
    refetchInterval: ({ state }) =>
      state.data?.data.some(({ outcome }) => outcome === 'pending' || outcome === 'merged') ? 2_000 : 15_000,
  });
}

export function useProvenance(env: string, id: string) {
  return useQuery({
    queryKey: ['events', env, 'one', id, 'provenance'],
    queryFn: ({ signal }) => callApi<EventProvenance>(`/v1/events/${encodeURIComponent(id)}/arrival`, { env, signal }),
    staleTime: 60_000,
  });
}

/** null: the sender set none. */
export function deduplicationId({ id, internal_id }: StoredEvent): string | null {
  return id === internal_id ? null : id;
}

/** @param keepId keeps the deduplication ID and the timestamp; otherwise it is a new event */
export function toEventToSend(event: StoredEvent, keepId: boolean): EventToSend {
  const { name, data, ts, user, v } = event;
  const id = deduplicationId(event);
  return {
    name,
    data,
    ...(keepId && id !== null && { id }),
    ...(keepId && { ts }),
    ...(user !== undefined && { user }),
    ...(v !== undefined && { v }),
  };
}

const ULID_DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** A ULID begins with its time: 10 digits of 5 bits. */
function isNewEvent(id: string): boolean {
  const ms = [...id.slice(0, 10).toUpperCase()].reduce((sum, digit) => sum * 32 + ULID_DIGITS.indexOf(digit), 0);
  return Math.abs(Date.now() - ms) < NEW_EVENT_MS;
}

/** What the holding page asks of the service. It is the account's: no environment selects among held events. */
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type ApiResponse, callApi, type Query } from '../../api/client.ts';
import { useLiveUpdates } from '../../api/live-updates.ts';
import type { HeldEvent, ListedHeldEvent } from '../../api/types.ts';

const PAGE_SIZE = 100;

/** Which of them; all of it stands in the address. */
export interface Filter {
  webhook?: string | undefined;
  name?: string | undefined;
  selection?: string | undefined;
  reason?: string | undefined;
}

/** One, or all that pass a filter. */
export type Selection = { id: string } | { filter: Filter };

export function useHeldEvents({ webhook, name, selection, reason }: Filter) {
  const filter = { webhook, name, selection, reason };
  return useInfiniteQuery({
    queryKey: ['held-events', filter],
    queryFn: ({ signal, pageParam }) =>
      callApi<ListedHeldEvent[]>('/v1/holding', { signal, query: { ...filter, limit: PAGE_SIZE, cursor: pageParam } }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ metadata }) => metadata.cursor,
  });
}

export function useHeldEvent(id: string | undefined) {
  return useQuery({
    queryKey: ['held-event', id],
    queryFn: async ({ signal }) => (await callApi<HeldEvent>(`/v1/holding/${id}`, { signal })).data,
    enabled: id !== undefined,
  });
}

export function useLiveHeldEvents(): void {
  const queries = useQueryClient();
  const readAnew = () => void queries.invalidateQueries({ queryKey: ['held-events'] });
  useLiveUpdates('hello', readAnew);
  useLiveUpdates('held-events', readAnew);
}

/** Answers how many were assigned.
 *  @throws ApiError, also when some are assigned already: those that are left can be assigned again */
export function useAssign() {
  return useHeldEventsMutation(async ({ which, environment }: { which: Selection; environment: string }) => {
    if ('id' in which) {
      await callApi(`/v1/holding/${which.id}/assign`, { method: 'POST', body: { environment } });
      return 1;
    }
    return inBatches<{ assigned: unknown[]; more: boolean }>(
      (cursor) => callApi('/v1/holding/assign', { method: 'POST', body: { environment, ...which.filter, cursor } }),
      ({ assigned }) => assigned.length,
    );
  });
}

/** Answers how many were discarded. */
export function useDiscard() {
  return useHeldEventsMutation(async (which: Selection) => {
    if ('id' in which) {
      await callApi(`/v1/holding/${which.id}`, { method: 'DELETE' });
      return 1;
    }
    return inBatches<{ deleted: number; more: boolean }>(
      (cursor) => callApi('/v1/holding', { method: 'DELETE', query: { ...filterOrAll(which.filter), cursor } }),
      ({ deleted }) => deleted,
    );
  });
}

/** What deletes everything has to say so. */
function filterOrAll(filter: Filter): Query {
  return Object.values(filter).some(Boolean) ? { ...filter } : { all: true };
}

function useHeldEventsMutation<Input>(mutationFn: (input: Input) => Promise<number>) {
  const queries = useQueryClient();
  return useMutation({ mutationFn, onSettled: () => queries.invalidateQueries({ queryKey: ['held-events'] }) });
}

/** The service takes a bounded number at once, and says where to go on. */
async function inBatches<T extends { more: boolean }>(
  turn: (cursor: string | undefined) => Promise<ApiResponse<T>>,
  count: (data: T) => number,
): Promise<number> {
  let done = 0;
  let cursor: string | undefined;
  for (;;) {
    const { data, metadata } = await turn(cursor);
    done += count(data);
    cursor = metadata.cursor;
    if (!data.more || cursor === undefined) return done;
  }
}

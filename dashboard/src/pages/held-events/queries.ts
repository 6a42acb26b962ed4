/** Queries of held events. They belong to the installation: the selected environment does not filter them. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type ApiResponse, callApi, type Query } from '../../api/client.ts';
import { useLiveUpdates } from '../../api/live-updates.ts';
import type { HeldEvent, ListedHeldEvent } from '../../api/types.ts';
import { useList } from '../../api/use-list.ts';

/** Kept in the URL. */
export interface Filter {
  webhook?: string | undefined;
  name?: string | undefined;
  selection?: string | undefined;
  reason?: string | undefined;
}

/** One event, some, or all that match a filter. */
export type Selection = { id: string } | { ids: readonly string[] } | { filter: Filter };

export function useHeldEvents({ webhook, name, selection, reason }: Filter) {
  const filter = { webhook, name, selection, reason };
  return useList<ListedHeldEvent>(['held-events', filter], '/v1/holding', filter);
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
  const refetch = () => void queries.invalidateQueries({ queryKey: ['held-events'] });
  useLiveUpdates('hello', refetch);
  useLiveUpdates('held-events', refetch);
}

/** Resolves to the number of assigned events. @throws ApiError, possibly after some events were assigned; the assignment can be repeated */
export function useAssign() {
  return useHeldEventsMutation(async ({ selection, environment }: { selection: Selection; environment: string }) => {
    if ('id' in selection) {
      await callApi(`/v1/holding/${selection.id}/assign`, { method: 'POST', body: { environment } });
      return 1;
    }
    if ('ids' in selection) {
      const body = { environment, ids: selection.ids };
      const { data } = await callApi<{ assigned: unknown[] }>('/v1/holding/assign', { method: 'POST', body });
      return data.assigned.length;
    }
    return inBatches<{ assigned: unknown[]; more: boolean }>(
      (cursor) => callApi('/v1/holding/assign', { method: 'POST', body: { environment, ...selection.filter, cursor } }),
      ({ assigned }) => assigned.length,
    );
  });
}

/** Resolves to the number of discarded events. */
export function useDiscard() {
  return useHeldEventsMutation(async (selection: Selection) => {
    if ('id' in selection) {
      await callApi(`/v1/holding/${selection.id}`, { method: 'DELETE' });
      return 1;
    }
    if ('ids' in selection) {
      const body = { ids: selection.ids };
      const { data } = await callApi<{ deleted: number }>('/v1/holding/discard', { method: 'POST', body });
      return data.deleted;
    }
    return inBatches<{ deleted: number; more: boolean }>(
      (cursor) => callApi('/v1/holding', { method: 'DELETE', query: { ...filterOrAll(selection.filter), cursor } }),
      ({ deleted }) => deleted,
    );
  });
}

/** The API requires `all` to delete without a filter. */
function filterOrAll(filter: Filter): Query {
  return Object.values(filter).some(Boolean) ? { ...filter } : { all: true };
}

function useHeldEventsMutation<Input>(mutationFn: (input: Input) => Promise<number>) {
  const queries = useQueryClient();
  return useMutation({ mutationFn, onSettled: () => queries.invalidateQueries({ queryKey: ['held-events'] }) });
}

/** The API processes a limited number per request and returns a cursor. */
async function inBatches<T extends { more: boolean }>(
  request: (cursor: string | undefined) => Promise<ApiResponse<T>>,
  count: (data: T) => number,
): Promise<number> {
  let done = 0;
  let cursor: string | undefined;
  for (;;) {
    const { data, metadata } = await request(cursor);
    done += count(data);
    cursor = metadata.cursor;
    if (!data.more || cursor === undefined) return done;
  }
}

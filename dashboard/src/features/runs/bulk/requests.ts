/** Requests for actions on many runs. */
import { useQuery } from '@tanstack/react-query';
import { callApi } from '../../../api/client.ts';
import type { BulkAction, BulkDryRun, BulkResult, RunCount } from '../../../api/types.ts';
import { isOpen, POLL_MS } from '../../../ui/bulk-operations/operation.ts';
import { queryOf, type RunFilters } from '../use-runs.ts';

export type BulkKind = BulkAction['action'];
export type RerunFrom = NonNullable<BulkAction['from']>;
type Status = BulkAction['filter']['status'][number];

/** The runs with these IDs, or all that match the filters of the list. */
export type SelectedRuns = { ids: readonly string[] } | { filters: RunFilters };

export interface BulkRequest {
  action: BulkKind;
  from?: RerunFrom;
  include_already_rerun?: boolean;
  rate?: number;
  version?: string | null;
  filter: object;
}

/** Runs in these statuses, unless the list has a status of its own. Without one, re-runs leave out what has completed. */
const STATUSES: Record<BulkKind, readonly Status[]> = {
  cancel: ['Queued', 'Running'],
  retry: ['Completed', 'Failed', 'Cancelled'],
  retry_now: ['Queued', 'Running'],
  move: ['Queued', 'Running'],
  resume: ['Queued', 'Running'],
};

/** Whether a list with this status can have runs for the action. */
export function isPossible(action: BulkKind, { status }: RunFilters): boolean {
  return status === undefined || (STATUSES[action] as readonly string[]).includes(status);
}

export function filterOf(selected: SelectedRuns): object {
  if ('ids' in selected) return { run_ids: selected.ids };
  // Whatever filters the list has.
  return Object.fromEntries(Object.entries(queryOf(selected.filters)).filter(([, value]) => value !== undefined));
}

export async function countFirst(env: string, request: BulkRequest): Promise<BulkDryRun> {
  return (await post<BulkDryRun>(env, { ...request, dry_run: true })) as BulkDryRun;
}

export function startBulk(env: string, request: BulkRequest): Promise<BulkAction> {
  return post<BulkAction>(env, request);
}

async function post<T>(env: string, { filter, ...request }: BulkRequest & { dry_run?: boolean }): Promise<T> {
  const all = Object.keys(filter).length === 0;
  const body = { ...request, filter, ...(all && { all }) };
  return (await callApi<T>('/v1/runs/bulk', { method: 'POST', env, body })).data;
}

/** Read again while the action continues. */
export function useBulkAction(env: string, id: string) {
  return useQuery({
    queryKey: ['bulk-action', env, id],
    queryFn: async ({ signal }) => (await callApi<BulkAction>(`/v1/runs/bulk/${id}`, { env, signal })).data,
    refetchInterval: ({ state }) => (state.data && !isOpen(state.data.status) ? false : POLL_MS),
  });
}

/** The first ones. @param done of the action: they are read again when it changes */
export function useBulkResults(env: string, id: string, done: number, enabled: boolean) {
  return useQuery({
    queryKey: ['bulk-results', env, id, done],
    queryFn: ({ signal }) =>
      callApi<BulkResult[]>(`/v1/runs/bulk/${id}/results`, { env, signal, query: { limit: 100 } }),
    enabled,
    placeholderData: (before) => before,
  });
}

/** How many runs the list has in all. */
export function useRunCount(env: string, filters: RunFilters, enabled: boolean) {
  return useQuery({
    queryKey: ['run-count', env, filters],
    queryFn: async ({ signal }) =>
      (await callApi<RunCount>('/v1/runs/count', { env, signal, query: queryOf(filters) })).data,
    enabled,
  });
}

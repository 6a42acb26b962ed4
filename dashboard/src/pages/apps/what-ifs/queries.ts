import { useQuery } from '@tanstack/react-query';
import { callApi } from '../../../api/client.ts';
import { useEnv } from '../../../api/environment.ts';
import type { ListedWhatIf, WhatIf } from '../../../api/types.ts';
import { isOpen, POLL_MS } from '../../../ui/bulk-operations/operation.ts';

const IDLE_POLL_MS = 10_000;
/** As many as a page of the API has. */
const NEWEST = 100;

/** What-ifs of the app, newest first. */
export function useWhatIfs(app: string) {
  const env = useEnv();
  return useQuery({
    queryKey: ['what-ifs', env, 'list'],
    queryFn: ({ signal }) => callApi<ListedWhatIf[]>(`/v1/what-ifs?limit=${NEWEST}`, { env, signal }),
    select: ({ data }) => data.filter((whatIf) => whatIf.app === app),
    refetchInterval: ({ state }) => (state.data?.data.some(({ status }) => isOpen(status)) ? POLL_MS : IDLE_POLL_MS),
  });
}

export function useWhatIf(id: string) {
  const env = useEnv();
  return useQuery({
    queryKey: ['what-ifs', env, id],
    queryFn: async ({ signal }) => (await callApi<WhatIf>(`/v1/what-ifs/${id}`, { env, signal })).data,
    refetchInterval: ({ state }) => (state.data && !isOpen(state.data.status) ? false : POLL_MS),
  });
}

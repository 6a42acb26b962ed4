import { useQuery } from '@tanstack/react-query';
import { callApi } from '../../api/client.ts';
import { useEnv } from '../../api/environment.ts';
import { fetchAllPages } from '../../api/fetch-all-pages.ts';
import type { App, AppVersion, AppWithFunctions, Connection } from '../../api/types.ts';

/** Apps register themselves at any time. */
const REFRESH_MS = 10_000;

export function useApps() {
  const env = useEnv();
  const { data: apps, ...result } = useQuery({
    queryKey: ['apps', env, 'all'],
    queryFn: ({ signal }) => fetchAllPages<App>('/v1/apps', { env, signal }),
    refetchInterval: REFRESH_MS,
  });
  return { apps, ...result };
}

export function useApp(name: string) {
  const env = useEnv();
  return useQuery({
    queryKey: ['app', env, name],
    queryFn: ({ signal }) => callApi<AppWithFunctions>(`/v1/apps/${encodeURIComponent(name)}`, { env, signal }),
    refetchInterval: REFRESH_MS,
  });
}

/** Connections of an app that connects. */
export function useConnections(name: string) {
  const env = useEnv();
  return useQuery({
    queryKey: ['connections', env, name],
    queryFn: ({ signal }) => callApi<Connection[]>(`/v1/apps/${encodeURIComponent(name)}/connections`, { env, signal }),
    refetchInterval: REFRESH_MS,
  });
}

/** None, if the app does not name its builds. */
export function useVersions(name: string) {
  const env = useEnv();
  return useQuery({
    queryKey: ['app', env, name, 'versions'],
    queryFn: ({ signal }) => callApi<AppVersion[]>(`/v1/apps/${encodeURIComponent(name)}/versions`, { env, signal }),
    refetchInterval: REFRESH_MS,
  });
}

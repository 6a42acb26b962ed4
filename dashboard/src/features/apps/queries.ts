import { useQuery } from '@tanstack/react-query';
import { ask } from '../../api/client.ts';
import { useEnv } from '../../api/environment.ts';
import { readAll } from '../../api/fetch-all-pages.ts';
import type { App, AppWithFunctions } from '../../api/types.ts';

/** Apps register by themselves: looked for anew, so that one that has just come is seen. */
const LOOK_EVERY_MS = 10_000;

export function useApps() {
  const env = useEnv();
  const { data: apps, ...result } = useQuery({
    queryKey: ['apps', env, 'all'],
    queryFn: ({ signal }) => readAll<App>('/v1/apps', { env, signal }),
    refetchInterval: LOOK_EVERY_MS,
  });
  return { apps, ...result };
}

export function useApp(name: string) {
  const env = useEnv();
  return useQuery({
    queryKey: ['app', env, name],
    queryFn: ({ signal }) => ask<AppWithFunctions>(`/v1/apps/${encodeURIComponent(name)}`, { env, signal }),
    refetchInterval: LOOK_EVERY_MS,
  });
}

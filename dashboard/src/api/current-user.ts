/** The signed-in user, and their access. */
import { useQuery } from '@tanstack/react-query';
import { callApi } from './client.ts';
import { useEnv } from './environment.ts';
import type { CurrentUser } from './types.ts';

const ACCESS_LEVELS = ['none', 'read', 'write', 'admin'] as const;

export function useCurrentUser(): CurrentUser | undefined {
  const env = useEnv();
  const { data } = useQuery({
    queryKey: ['me', env],
    queryFn: ({ signal }) => callApi<CurrentUser>('/auth/me', { env, signal }),
    staleTime: 60_000,
  });
  return data?.data;
}

/** In the selected environment; what needs admin access concerns the installation. false while it is unknown. */
export function useHasAccess(needed: CurrentUser['access']): boolean {
  const me = useCurrentUser();
  const has = me?.[needed === 'admin' ? 'installation_access' : 'access'];
  return has !== undefined && ACCESS_LEVELS.indexOf(has) >= ACCESS_LEVELS.indexOf(needed);
}

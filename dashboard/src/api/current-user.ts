/** The signed-in user, and their access. */
import { useQuery } from '@tanstack/react-query';
import { callApi } from './client.ts';
import type { CurrentUser } from './types.ts';

const ACCESS_LEVELS = ['read', 'write', 'admin'] as const;

export function useCurrentUser(): CurrentUser | undefined {
  const { data } = useQuery({
    queryKey: ['me'],
    queryFn: ({ signal }) => callApi<CurrentUser>('/auth/me', { signal }),
    staleTime: 60_000,
  });
  return data?.data;
}

/** false while it is unknown. */
export function useHasAccess(needed: CurrentUser['access']): boolean {
  const me = useCurrentUser();
  return me !== undefined && ACCESS_LEVELS.indexOf(me.access) >= ACCESS_LEVELS.indexOf(needed);
}

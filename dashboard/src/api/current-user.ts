/** Who is looking, and what they may do. */
import { useQuery } from '@tanstack/react-query';
import { callApi } from './client.ts';
import type { CurrentUser } from './types.ts';

const ORDER = ['read', 'write', 'admin'] as const;

export function useCurrentUser(): CurrentUser | undefined {
  const { data } = useQuery({
    queryKey: ['me'],
    queryFn: ({ signal }) => callApi<CurrentUser>('/auth/me', { signal }),
    staleTime: 60_000,
  });
  return data?.data;
}

/** Whether they may do what needs this access; while that is not known, no. */
export function useHasAccess(needed: CurrentUser['access']): boolean {
  const me = useCurrentUser();
  return me !== undefined && ORDER.indexOf(me.access) >= ORDER.indexOf(needed);
}

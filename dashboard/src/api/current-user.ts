/** Who is looking, and what they may do. */
import { useQuery } from '@tanstack/react-query';
import { ask } from './client.ts';
import type { Me } from './types.ts';

const ORDER = ['read', 'write', 'admin'] as const;

export function useMe(): Me | undefined {
  const { data } = useQuery({
    queryKey: ['me'],
    queryFn: ({ signal }) => ask<Me>('/auth/me', { signal }),
    staleTime: 60_000,
  });
  return data?.data;
}

/** Whether they may do what needs this access; while that is not known, no. */
export function useMay(needed: Me['access']): boolean {
  const me = useMe();
  return me !== undefined && ORDER.indexOf(me.access) >= ORDER.indexOf(needed);
}

import type { ReactNode } from 'react';
import { useCurrentUser, useHasAccess } from '../api/current-user.ts';
import { EmptyState } from './empty-state.tsx';
import { Loading } from './loading.tsx';

/** Content that only admins may read; it is not requested for others.
 *  @param title shown to others instead */
export function AdminOnly({ title, children }: { title: string; children: ReactNode }) {
  const me = useCurrentUser();
  const admin = useHasAccess('admin');
  if (!me) return <Loading />;
  if (admin) return children;
  return <EmptyState title={title}>An admin can give you the role admin under Users.</EmptyState>;
}

/** `title` of a button that only admins may use. */
export function adminOnlyReason(isAdmin: boolean): string | undefined {
  return isAdmin ? undefined : 'Requires admin access';
}

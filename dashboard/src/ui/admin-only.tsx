import type { ReactNode } from 'react';
import { useCurrentUser, useHasAccess } from '../api/current-user.ts';
import { EmptyState } from './empty-state.tsx';
import { Loading } from './loading.tsx';

/** What the service tells admins alone. Nobody else's page asks for it.
 *  @param title says so to whoever may not see it */
export function AdminOnly({ title, children }: { title: string; children: ReactNode }) {
  const me = useCurrentUser();
  const admin = useHasAccess('admin');
  if (!me) return <Loading />;
  if (admin) return children;
  return (
    <EmptyState title={title}>
      You have {me.access} access. An admin can give you another role under Members.
    </EmptyState>
  );
}

/** For the `title` of a button that the reader may not use. */
export function adminOnlyReason(may: boolean): string | undefined {
  return may ? undefined : 'Only admins may do this';
}

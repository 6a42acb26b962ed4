import type { ReactNode } from 'react';
import { useMay, useMe } from '../api/current-user.ts';
import { Empty } from './empty-state.tsx';
import { Loading } from './loading.tsx';

/** What the service tells admins alone. Nobody else's page asks for it.
 *  @param title says so to whoever may not see it */
export function NeedsAdmin({ title, children }: { title: string; children: ReactNode }) {
  const me = useMe();
  const admin = useMay('admin');
  if (!me) return <Loading />;
  if (admin) return children;
  return <Empty title={title}>You have {me.access} access. An admin can give you another role under Members.</Empty>;
}

/** For the `title` of a button that the reader may not use. */
export function reasonFor(may: boolean): string | undefined {
  return may ? undefined : 'Only admins may do this';
}

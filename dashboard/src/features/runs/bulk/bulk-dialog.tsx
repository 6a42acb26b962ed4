import { lazy, Suspense } from 'react';
import type { BulkDialogProps } from './bulk-form.tsx';

export type { VersionField } from './bulk-form.tsx';

const BulkForm = lazy(() => import('./bulk-form.tsx'));

/** Counts the runs, and starts an action on them. It loads when it is wanted. */
export function BulkDialog(props: BulkDialogProps) {
  return (
    <Suspense>
      <BulkForm {...props} />
    </Suspense>
  );
}

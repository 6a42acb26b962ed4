import { lazy, Suspense } from 'react';
import { useVersionDiff } from '../../../features/webhooks/versions.ts';
import { ErrorAlert } from '../../../ui/error-alert.tsx';
import { Loading } from '../../../ui/loading.tsx';

const DiffView = lazy(() => import('./diff-view.tsx'));

interface VersionDiffProps {
  webhookId: string;
  before: number;
  after: number;
}

/** Changes from one version to another. The view is loaded when the first diff is shown. */
export function VersionDiff({ webhookId, before, after }: VersionDiffProps) {
  const diff = useVersionDiff(webhookId, before, after);
  if (diff.isPending) return <Loading rows={5} />;
  if (diff.isError) {
    return (
      <div className="p-4">
        <ErrorAlert error={diff.error} onRetry={() => void diff.refetch()} />
      </div>
    );
  }
  return (
    <Suspense fallback={<Loading rows={5} />}>
      <DiffView diff={diff.data} />
    </Suspense>
  );
}

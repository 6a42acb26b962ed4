import { useState } from 'react';
import { DeployItem } from '../../features/deploys/deploy-item.tsx';
import { useDeploys } from '../../features/deploys/queries.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Card } from '../../ui/page.tsx';

const SHOWN_FIRST = 10;
/** Maximum number of deploys that the API keeps. */
const SHOWN_MOST = 100;

/** When the app changed, and what. */
export function AppDeploys({ name }: { name: string }) {
  const [limit, setLimit] = useState(SHOWN_FIRST);
  const { data, error, refetch } = useDeploys(name, limit);
  const deploys = data?.data;
  return (
    <Card title="Deploys">
      {error && <ErrorAlert error={error} onRetry={() => void refetch()} />}
      {!deploys && !error && <Loading rows={3} />}
      {deploys?.length === 0 && (
        <p className="px-4 py-8 text-center text-muted">
          No deploys yet. The next registration that changes something is one.
        </p>
      )}
      <ul aria-label="Deploys" className="divide-y divide-line">
        {deploys?.map((deploy) => (
          <DeployItem key={deploy.id} deploy={deploy} />
        ))}
      </ul>
      {data?.metadata.cursor !== undefined && limit < SHOWN_MOST && (
        <div className="border-t border-line p-2">
          <Button variant="ghost" onClick={() => setLimit(SHOWN_MOST)}>
            Show all
          </Button>
        </div>
      )}
    </Card>
  );
}

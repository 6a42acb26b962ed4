import { DeployItem } from '../../features/deploys/deploy-item.tsx';
import { Card } from '../../ui/page.tsx';
import { useMetrics } from './use-metrics.ts';

/** What changed in the app of the function in the time range. */
export function FunctionDeploys({ functionId }: { functionId: string }) {
  const { deploys = [] } = useMetrics(functionId).metrics ?? {};
  if (deploys.length === 0) return null;
  return (
    <Card title="Deploys">
      <section aria-label="Deploys in this time range">
        <ul className="max-h-52 divide-y divide-line overflow-y-auto">
          {deploys.map((deploy) => (
            <DeployItem key={deploy.id} deploy={deploy} linksToApp />
          ))}
        </ul>
      </section>
    </Card>
  );
}

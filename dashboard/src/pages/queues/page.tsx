import { useEnv } from '../../api/environment.ts';
import { Charts } from '../../features/metrics/charts.tsx';
import { TIME_RANGES, useMetrics, useOverview } from '../../features/metrics/metrics.ts';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Page } from '../../ui/page.tsx';
import { Advice } from './advice.tsx';
import { QueueTable } from './queue-table.tsx';

/** Bull Board (src/api/operations/board.ts), for those who know it. */
const BOARD = '/queues';

export default function QueuesPage() {
  const env = useEnv();
  const overview = useOverview(env);
  const metrics = useMetrics(env, TIME_RANGES[0]);
  const now = overview.data?.data;
  return (
    <Page
      title="Queues"
      description="Where jobs of all environments wait for a worker. Calls that a limit holds are not here, but on the page of their function."
      actions={
        <a
          href={BOARD}
          target="_blank"
          rel="noreferrer"
          className="inline-flex items-center gap-1.5 text-sm whitespace-nowrap text-muted hover:text-text"
        >
          Jobs in Bull Board
          <Icon name="external" />
          <span className="sr-only">(new tab)</span>
        </a>
      }
    >
      {overview.error && <ErrorAlert error={overview.error} onRetry={() => void overview.refetch()} />}
      {overview.isPending && <Loading rows={6} />}
      {now && (
        <div className="space-y-4">
          <Advice overview={now} />
          <QueueTable queues={now.queues} />
          <h2 className="pt-4 font-medium">Throughput of {env}, last hour</h2>
          {metrics.error && <ErrorAlert error={metrics.error} onRetry={() => void metrics.refetch()} />}
          {metrics.data && <Charts metrics={metrics.data.data} withLatency={false} />}
        </div>
      )}
    </Page>
  );
}

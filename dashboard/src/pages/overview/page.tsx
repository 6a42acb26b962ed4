import { useSearch } from '@tanstack/react-router';
import { useEnv } from '../../api/environment.ts';
import { FrequentErrors } from '../../features/errors/frequent-errors.tsx';
import { FirstEvent } from '../../features/events/first-event.tsx';
import { useNewestEvent } from '../../features/events/use-newest-event.ts';
import { Charts } from '../../features/metrics/charts.tsx';
import { TIME_RANGE_LABELS, TIME_RANGES, useMetrics, useOverview } from '../../features/metrics/metrics.ts';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { SegmentedLinks } from '../../ui/segmented-links.tsx';
import { Attention } from './attention.tsx';
import { FailingFunctions } from './failing-functions.tsx';
import { useFailuresAtOnce } from './failures-at-once.ts';
import { MetricTiles } from './metric-tiles.tsx';
import { Onboarding } from './onboarding.tsx';
import { ArchiveAlert, BackpressureAlert, OutboxCard, ProcessesCard, RedisCard } from './system-health.tsx';

const OPTIONS = TIME_RANGES.map((id) => ({ id, text: id, title: TIME_RANGE_LABELS[id] }));

export default function OverviewPage() {
  const env = useEnv();
  const { range = TIME_RANGES[0] } = useSearch({ from: '/' });
  const metrics = useMetrics(env, range);
  const overview = useOverview(env);
  useFailuresAtOnce();
  const newest = useNewestEvent(env);
  const now = overview.data?.data;
  return (
    <Page
      title="Overview"
      actions={<SegmentedLinks label="Time range" param="range" current={range} options={OPTIONS} />}
    >
      {now && <ArchiveAlert archive={now.archive} />}
      {now && !now.intake.open && <BackpressureAlert reasons={now.intake.reasons} />}
      <Onboarding env={env} />
      {newest.data === null && (
        <Card className="mb-6">
          <FirstEvent title="No events yet" />
        </Card>
      )}
      <div className="space-y-4">
        {(now || overview.error) && <Attention overview={now} />}
        {metrics.error && <ErrorAlert error={metrics.error} onRetry={() => void metrics.refetch()} />}
        {metrics.isPending && (
          <Card>
            <Loading rows={8} />
          </Card>
        )}
        {metrics.data && (
          <>
            <MetricTiles metrics={metrics.data.data} overview={now} />
            <Charts metrics={metrics.data.data} />
          </>
        )}
        <FrequentErrors />
        {overview.error && <ErrorAlert error={overview.error} onRetry={() => void overview.refetch()} />}
        {now && (
          <div className="grid items-start gap-4 lg:grid-cols-3">
            <FailingFunctions functions={now.failing_functions} />
            <RedisCard redis={now.redis} />
            <ProcessesCard processes={now.processes} />
            {now.outbox && <OutboxCard outbox={now.outbox} />}
          </div>
        )}
      </div>
    </Page>
  );
}

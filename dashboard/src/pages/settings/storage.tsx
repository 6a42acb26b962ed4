import { useQuery } from '@tanstack/react-query';
import { callApi } from '../../api/client.ts';
import { useEnv } from '../../api/environment.ts';
import type { Storage } from '../../api/types.ts';
import { formatBytes, formatCount } from '../../lib/format.ts';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Card, DescriptionItem } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';

/** Storage of the selected environment in Redis and in Postgres. */
export function StorageCard() {
  const env = useEnv();
  const { data, error, refetch } = useQuery({
    queryKey: ['storage', env],
    queryFn: ({ signal }) => callApi<Storage>('/v1/storage', { env, signal }),
  });
  return (
    <Card title={`Storage of ${env}`}>
      {error && !data && (
        <div className="p-4">
          <ErrorAlert error={error} onRetry={() => void refetch()} />
        </div>
      )}
      {!error && !data && <Loading rows={3} />}
      {data && <Use storage={data.data} />}
    </Card>
  );
}

function Use({ storage: { hot, archive, archived, retention_days } }: { storage: Storage }) {
  return (
    <>
      <dl className="grid gap-x-8 gap-y-3 p-4 sm:grid-cols-2">
        <DescriptionItem term="Redis (estimate)">
          {hot.bytes === null ? '' : `${formatBytes(hot.bytes)}: `}
          {formatCount(hot.events)} events, {formatCount(hot.runs)} runs
        </DescriptionItem>
        <DescriptionItem term="Oldest event in Redis">
          <Time at={hot.oldest_at} />
        </DescriptionItem>
        <DescriptionItem term="Archive">
          {archive === 'off' && 'none (DATABASE_URL is not set)'}
          {archive === 'unavailable' && 'unavailable'}
          {archived &&
            `${formatBytes(archived.events.disk_bytes + archived.runs.disk_bytes)}: ${formatCount(archived.events.rows)} events, ${formatCount(archived.runs.rows)} runs`}
        </DescriptionItem>
        {archived && <DescriptionItem term="Oldest archived day">{archived.oldest_day ?? '–'}</DescriptionItem>}
        <DescriptionItem term="Retention">{daysText(retention_days)}</DescriptionItem>
      </dl>
      {archived && archived.forecast.length > 0 && (
        <div className="border-t border-line p-4">
          <h3 className="text-sm text-muted">Disk that a retention needs, at the rate of the last week</h3>
          <dl className="mt-2 space-y-1 text-sm">
            {archived.forecast.map(({ retention_days: days, disk_bytes }) => (
              <div key={days} className="flex justify-between gap-4">
                <dt className={days === retention_days ? 'font-medium' : ''}>{daysText(days)}</dt>
                <dd className="tabular-nums">{formatBytes(disk_bytes)}</dd>
              </div>
            ))}
          </dl>
        </div>
      )}
    </>
  );
}

function daysText(days: number): string {
  return `${days} ${days === 1 ? 'day' : 'days'}`;
}

import { getRouteApi } from '@tanstack/react-router';
import { useFunctionMetrics } from '../../features/functions/queries.ts';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Card } from '../../ui/page.tsx';
import { Activity } from './activity.tsx';
import { Steps } from './steps.tsx';

const route = getRouteApi('/functions/$id');

/** Runs and steps over the time range of the URL. */
export function FunctionMetrics({ functionId }: { functionId: string }) {
  const { range = '24h', step } = route.useSearch();
  const { data, error, refetch } = useFunctionMetrics(functionId, range, step);
  if (!data) {
    return <Card>{error ? <ErrorAlert error={error} onRetry={() => void refetch()} /> : <Loading rows={8} />}</Card>;
  }
  return (
    <>
      <Activity functionId={functionId} range={range} metrics={data.data} />
      <Steps metrics={data.data} selected={step} />
    </>
  );
}

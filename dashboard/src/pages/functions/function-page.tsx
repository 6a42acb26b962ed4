import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { callApi } from '../../api/client.ts';
import { useHasAccess } from '../../api/current-user.ts';
import { useEnv } from '../../api/environment.ts';
import type { FunctionDetails, StoredEvent } from '../../api/types.ts';
import { FunctionErrors } from '../../features/errors/frequent-errors.tsx';
import { FunctionStatus } from '../../features/functions/function-status.tsx';
import { useFunction } from '../../features/functions/queries.ts';
import { Condition, TriggerList } from '../../features/functions/triggers.tsx';
import { useRuns } from '../../features/runs/use-runs.ts';
import { stringifyExact } from '../../lib/exact-json.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Card, DescriptionItem, Page } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { Activity } from './activity.tsx';
import { ExpressionError } from './expression-error.tsx';
import { FlowControl } from './flow-control.tsx';
import { FunctionDeploys } from './function-deploys.tsx';
import { Limits } from './limits.tsx';
import { OnExhausted } from './on-exhausted.tsx';
import { PauseButton } from './pause-button.tsx';
import { Problems } from './problems.tsx';
import { RecentRuns } from './recent-runs.tsx';
import { Steps } from './steps.tsx';

const DestinationDetails = lazy(() => import('../../features/destinations/destination-details.tsx'));
const InvokeDialog = lazy(() => import('../../features/functions/invoke-dialog.tsx'));
const Lanes = lazy(() => import('./lanes.tsx'));
const Registration = lazy(() => import('./registration.tsx'));

const route = getRouteApi('/functions/$id');

export default function FunctionPage() {
  const { id } = route.useParams();
  const { data, error, refetch } = useFunction(id);
  if (data) return <Known key={id} fn={data.data} />;
  return (
    <Page title={id}>{error ? <ErrorAlert error={error} onRetry={() => void refetch()} /> : <Loading rows={8} />}</Page>
  );
}

function Known({ fn }: { fn: FunctionDetails }) {
  const canWrite = useHasAccess('write');
  const [invoking, setInvoking] = useState(false);
  const [wasOpened, setWasOpened] = useState(false);
  const invoke = () => {
    setWasOpened(true);
    setInvoking(true);
  };
  const list = useRuns({ function: fn.id }, { pageSize: 10 });
  const sample = useEventData(list.runs[0]?.event_id, invoking);
  return (
    <Page
      title={fn.name}
      description={<Summary fn={fn} />}
      actions={
        canWrite &&
        !fn.archived && (
          <>
            <PauseButton fn={fn} />
            <Button variant="primary" icon="play" onClick={invoke}>
              {fn.destination === null ? 'Invoke' : 'Test'}
            </Button>
          </>
        )
      }
    >
      <div className="space-y-6">
        {fn.problems.length > 0 && <Problems problems={fn.problems} />}
        {fn.expression_problem && <ExpressionError problem={fn.expression_problem} />}
        <Activity functionId={fn.id} />
        <div className="grid grid-cols-1 items-start gap-6 lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
          <RecentRuns functionId={fn.id} list={list} />
          <div className="space-y-6">
            <FunctionErrors id={fn.id} />
            <FunctionDeploys functionId={fn.id} />
          </div>
        </div>
        {fn.destination !== null && !fn.archived && (
          <Suspense fallback={<Loading rows={3} />}>
            <DestinationDetails name={fn.destination} />
          </Suspense>
        )}
        <Limits functionId={fn.id} />
        <Suspense>
          <Lanes functionId={fn.id} />
        </Suspense>
        <Steps functionId={fn.id} />
        <div className="grid grid-cols-1 items-start gap-6 lg:grid-cols-2">
          <div className="space-y-6">
            <Card title="Triggers">
              <TriggerList triggers={fn.triggers} />
            </Card>
            <FlowControl configuration={fn.configuration} />
            {fn.cancel.length > 0 && <Cancels cancel={fn.cancel} />}
          </div>
          <div className="space-y-6">
            <Card title="Settings">
              <FunctionFacts fn={fn} />
            </Card>
            {fn.destination === null && (
              <Suspense>
                <Registration fn={fn} />
              </Suspense>
            )}
          </div>
        </div>
      </div>
      {/* The dialog stays mounted when it is closed, so that the focus returns to the button. */}
      {wasOpened && (
        <Suspense>
          <InvokeDialog
            open={invoking}
            onClose={() => setInvoking(false)}
            functionId={fn.id}
            title={`${fn.destination === null ? 'Invoke' : 'Test'} ${fn.name}`}
            data={sample ?? '{}'}
          />
        </Suspense>
      )}
    </Page>
  );
}

function Summary({ fn }: { fn: FunctionDetails }) {
  return (
    <span className="flex flex-wrap items-baseline gap-x-3 gap-y-1 text-sm">
      <FunctionStatus fn={fn} />
      {fn.paused_at && (
        <span>
          <Time at={fn.paused_at} />
          {fn.queued_runs === 'hold' && '; its queued runs are held'}
        </span>
      )}
      {fn.destination === null && (
        <Link to="/apps/$name" params={{ name: fn.app }} className="text-accent hover:underline">
          {fn.app}
        </Link>
      )}
      <span className="font-mono text-xs break-all">{fn.id}</span>
    </span>
  );
}

function FunctionFacts({ fn }: { fn: FunctionDetails }) {
  return (
    <dl className="space-y-3 p-4">
      {fn.description && <DescriptionItem term="Description">{fn.description}</DescriptionItem>}
      {fn.group && <DescriptionItem term="Group">{fn.group}</DescriptionItem>}
      <DescriptionItem term="Attempts">
        {fn.retries === 0 ? '1, no retries' : `Up to ${fn.retries + 1}`}
      </DescriptionItem>
      <DescriptionItem term="Without an attempt left">
        <OnExhausted fn={fn} />
      </DescriptionItem>
    </dl>
  );
}

function Cancels({ cancel }: { cancel: FunctionDetails['cancel'] }) {
  return (
    <Card title="Cancelled by">
      <ul className="divide-y divide-line">
        {cancel.map((each) => (
          <li key={JSON.stringify(each)} className="px-4 py-3">
            <Link
              to="/events"
              search={{ name: each.event }}
              className="font-mono text-sm hover:text-accent hover:underline"
            >
              {each.event}
            </Link>
            {each.timeout && <span className="text-sm text-muted"> within {each.timeout} of the run’s start</span>}
            {each.expression && <Condition expression={each.expression} />}
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** Data of a recent event, as initial input for Invoke. */
function useEventData(eventId: string | undefined, enabled: boolean): string | undefined {
  const env = useEnv();
  const { data } = useQuery({
    queryKey: ['event-data', env, eventId],
    queryFn: ({ signal }) => callApi<StoredEvent>(`/v1/events/${eventId}`, { env, signal }),
    enabled: enabled && eventId !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return data && stringifyExact(data.data.data, 2);
}

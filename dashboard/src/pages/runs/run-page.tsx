import { getRouteApi } from '@tanstack/react-router';
import { useHasAccess } from '../../api/current-user.ts';
import type { RunWithHistory } from '../../api/types.ts';
import { useFunction } from '../../features/functions/queries.ts';
import { STATE_LABELS } from '../../features/runs/run-state.ts';
import { stringifyExact } from '../../lib/exact-json.ts';
import { CopyButton } from '../../ui/code-block.tsx';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { JsonTree } from '../../ui/json-tree.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { RunActions } from './actions.tsx';
import { RunDetails } from './details.tsx';
import { ErrorCard } from './error-card.tsx';
import { RunLogs } from './logs/run-logs.tsx';
import { StepLogs } from './logs/step-logs.tsx';
import { Metadata } from './metadata.tsx';
import { Timeline } from './timeline.tsx';
import { useRun, useTriggerEvent } from './use-run.ts';
import { WaitStatus } from './wait-status.tsx';

const route = getRouteApi('/runs/$id');

export default function RunPage() {
  const { id } = route.useParams();
  const { data, error, refetch } = useRun(id);
  if (data) return <Known key={id} run={data.data} />;
  return (
    <Page title="Run" description={<span className="font-mono text-xs break-all">{id}</span>}>
      {error ? <ErrorAlert error={error} onRetry={() => void refetch()} /> : <Loading rows={8} />}
    </Page>
  );
}

function Known({ run }: { run: RunWithHistory }) {
  const { entry, calls } = route.useSearch();
  const navigate = route.useNavigate();
  const canWrite = useHasAccess('write');
  const fn = useFunction(run.function_id).data?.data;
  const trigger = useTriggerEvent(run.event_id);
  const event = trigger.data?.data;
  const maxAttempts = fn && fn.retries + 1;
  const show = (changed: { entry?: string | undefined; calls?: true | undefined }) =>
    void navigate({ search: (before) => ({ ...before, ...changed }) as never, replace: true, resetScroll: false });
  return (
    <Page
      title={fn?.name ?? run.function_id}
      tabTitle={`${STATE_LABELS[run.state.kind]}: ${fn?.name ?? run.function_id}`}
      description={<span className="font-mono text-xs break-all">{run.run_id}</span>}
      actions={canWrite && <RunActions run={run} event={event} />}
    >
      <div className="space-y-6">
        <WaitStatus run={run} />
        <ErrorCard run={run} maxAttempts={maxAttempts} />
        <RunDetails run={run} fn={fn} eventName={event?.name} maxAttempts={maxAttempts} />
        <Timeline
          run={run}
          open={entry}
          onOpen={(key) => show({ entry: key })}
          showCalls={calls === true}
          onShowCalls={(shown) => show({ calls: shown || undefined })}
          extrasOf={(stepId) => stepId !== null && <StepLogs run={run} stepId={stepId} />}
        />
        <RunLogs run={run} />
        <Metadata run={run} />
        <div className={`grid grid-cols-1 items-start gap-6 ${run.status === 'Completed' ? 'lg:grid-cols-2' : ''}`}>
          {event && <Json title="Input" value={event.data} label="Event data" />}
          {trigger.error && (
            <Card title="Input">
              <div className="p-4">
                <ErrorAlert error={trigger.error} />
              </div>
            </Card>
          )}
          {run.status === 'Completed' && <Json title="Output" value={run.output} label="Function output" />}
        </div>
      </div>
    </Page>
  );
}

function Json({ title, value, label }: { title: string; value: unknown; label: string }) {
  return (
    <Card
      title={title}
      actions={<CopyButton label={`Copy ${title.toLowerCase()}`} text={() => stringifyExact(value, 2)} />}
    >
      <JsonTree value={value} label={label} />
    </Card>
  );
}

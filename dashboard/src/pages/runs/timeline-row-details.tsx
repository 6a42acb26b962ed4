import { useQuery } from '@tanstack/react-query';
import { callApi } from '../../api/client.ts';
import { useEnv } from '../../api/environment.ts';
import type { Step } from '../../api/types.ts';
import { stringifyExact } from '../../lib/exact-json.ts';
import { CopyButton } from '../../ui/code-block.tsx';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { JsonTree } from '../../ui/json-tree.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Time } from '../../ui/time.tsx';
import { ErrorDetails } from './error-details.tsx';
import { RerunFromStep } from './rerun-from-step.tsx';
import type { TimelineRowData } from './timeline-rows.ts';

/** Times, error and output of an attempt or step. */
export function TimelineRowDetails({ runId, ended, row }: { runId: string; ended: boolean; row: TimelineRowData }) {
  const { queuedMs, startedMs, endedMs, untilMs, stepId, attempt, error } = row;
  const times: [name: string, ms: number | null][] = [
    ['Queued', queuedMs],
    ['Started', startedMs],
    ['Ended', endedMs],
    [row.kind === 'slept' ? 'Wakes' : row.kind === 'queued' ? 'Starts' : 'Times out', untilMs],
  ];
  return (
    <div className="space-y-3 border-t border-line bg-sunken px-4 py-3 sm:pl-14">
      <dl className="flex flex-wrap gap-x-6 gap-y-1 text-sm">
        {times.map(
          ([name, ms]) =>
            ms !== null && (
              <div key={name} className="flex items-baseline gap-1.5">
                <dt className="text-muted">{name}</dt>
                <dd>
                  <Time at={ms} />
                </dd>
              </div>
            ),
        )}
        {attempt !== null && (
          <div className="flex items-baseline gap-1.5">
            <dt className="text-muted">Attempt</dt>
            <dd>{attempt + 1}</dd>
          </div>
        )}
        {stepId !== null && (
          <div className="flex min-w-0 items-baseline gap-1.5">
            <dt className="text-muted">Step</dt>
            <dd className="truncate font-mono text-xs" title={stepId}>
              {stepId.slice(0, 12)}
            </dd>
          </div>
        )}
      </dl>
      {error && <ErrorDetails error={error} />}
      {row.isStep && stepId !== null && <StepOutput runId={runId} stepId={stepId} />}
      {ended && row.kind !== 'deferred' && <RerunFromStep runId={runId} row={row} />}
    </div>
  );
}

function StepOutput({ runId, stepId }: { runId: string; stepId: string }) {
  const env = useEnv();
  const { data, error, refetch } = useQuery({
    queryKey: ['step', env, runId, stepId],
    queryFn: ({ signal }) => callApi<Step>(`/v1/runs/${runId}/steps/${stepId}`, { env, signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (error) return <ErrorAlert error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading rows={2} />;
  if (data.data.error) return <ErrorDetails error={data.data.error} />;
  const output = data.data.data ?? null;
  return (
    <div className="flex items-start rounded-md border border-line bg-surface">
      <div className="min-w-0 flex-1">
        <JsonTree value={output} label="Step output" />
      </div>
      <CopyButton label="Copy output" text={() => stringifyExact(output, 2)} />
    </div>
  );
}

import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { callApi } from '../../api/client.ts';
import { useEnv } from '../../api/environment.ts';
import type { Step } from '../../api/types.ts';
import { ErrorDetails } from '../../features/errors/error-details.tsx';
import { stringifyExact } from '../../lib/exact-json.ts';
import { CopyButton } from '../../ui/code-block.tsx';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { JsonTree } from '../../ui/json-tree.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Time } from '../../ui/time.tsx';
import { RerunFromStep } from './rerun-from-step.tsx';
import { AttemptList } from './timeline-attempt-list.tsx';
import { hasLinks, TimelineRowLinks } from './timeline-links.tsx';
import type { TimelineRowData } from './timeline-row-data.ts';

interface TimelineRowDetailsProps {
  runId: string;
  /** Whether the run has ended. */
  ended: boolean;
  row: TimelineRowData;
  /** Further details of the step, such as its logs. */
  children?: ReactNode;
}

/** Times, attempts, error, links and output of a row. */
export function TimelineRowDetails({ runId, ended, row, children }: TimelineRowDetailsProps) {
  const { queuedMs, startedMs, endedMs, untilMs, stepId, attempts, error, condition, request } = row;
  const times: [name: string, ms: number | null][] = [
    ['Queued', queuedMs],
    ['Started', row.status === 'Queued' ? null : startedMs],
    ['Ended', endedMs],
    [untilName(row), untilMs],
  ];
  return (
    <div className="space-y-3 border-t border-line bg-sunken px-4 py-3 sm:pl-14">
      <dl className="flex flex-wrap gap-x-6 gap-y-1 text-sm">
        {times.map(
          ([name, ms]) =>
            ms !== null && (
              <Item key={name} name={name}>
                <Time at={ms} />
              </Item>
            ),
        )}
        {request && (
          <Item name="Request">
            <span className="break-all">
              {request.method} {request.origin}
            </span>
            {request.status !== null && ` responded with status ${request.status}`}
          </Item>
        )}
        {condition !== null && (
          <Item name="If">
            <code className="font-mono text-xs break-all">{condition}</code>
          </Item>
        )}
        {stepId !== null && (
          <Item name="Step">
            <span className="truncate font-mono text-xs" title={stepId}>
              {stepId.slice(0, 12)}
            </span>
          </Item>
        )}
      </dl>
      {hasLinks(row) && <TimelineRowLinks row={row} all />}
      {attempts.length > 1 || hasRecovered(row) ? (
        <AttemptList attempts={attempts} />
      ) : (
        error && <ErrorDetails error={error} />
      )}
      {row.hasOutput && stepId !== null && <StepOutput runId={runId} stepId={stepId} />}
      {children}
      {ended && row.kind !== 'deferred' && <RerunFromStep runId={runId} row={row} />}
    </div>
  );
}

/** Its only attempt failed, and later attempts are not in the history. */
function hasRecovered({ status, attempts }: TimelineRowData): boolean {
  return status !== 'Failed' && attempts[0]?.status === 'Failed';
}

function untilName({ kind, status }: TimelineRowData): string {
  if (kind === 'slept') return status === 'Cancelled' ? 'Would have woken' : 'Wakes';
  if (kind === 'queued' || status === 'Retrying') return 'Starts';
  return status === 'Cancelled' ? 'Would have timed out' : 'Times out';
}

function Item({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="flex min-w-0 items-baseline gap-1.5">
      <dt className="text-muted">{name}</dt>
      <dd className="min-w-0">{children}</dd>
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

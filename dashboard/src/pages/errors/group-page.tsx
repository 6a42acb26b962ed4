import { getRouteApi, Link } from '@tanstack/react-router';
import type { DetailedErrorGroup, ErrorGroup } from '../../api/types.ts';
import { ErrorDetails } from '../../features/errors/error-details.tsx';
import { useErrorGroup, useLiveErrors } from '../../features/errors/queries.ts';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { StateBadge, StateButtons } from './actions.tsx';
import { AssignedChannels } from './assign-channels.tsx';
import { Facts } from './facts.tsx';
import { FailedRuns } from './failed-runs.tsx';
import { RerunAll } from './rerun-all.tsx';
import { useFailedRuns, useRunError } from './use-failed-runs.ts';

const route = getRouteApi('/errors/$fingerprint');

/** One error group. */
export default function ErrorGroupPage() {
  const { fingerprint } = route.useParams();
  const { data, error, refetch } = useErrorGroup(fingerprint);
  useLiveErrors();
  if (data) return <Known key={fingerprint} group={data} />;
  return (
    <Page title="Error">
      {error ? <ErrorAlert error={error} onRetry={() => void refetch()} /> : <Loading rows={6} />}
    </Page>
  );
}

function Known({ group }: { group: DetailedErrorGroup }) {
  const runs = useFailedRuns(group);
  const title = group.message || group.name;
  return (
    <Page
      title={<span className="line-clamp-3">{title}</span>}
      tabTitle={title}
      description={<Where group={group} />}
      actions={
        <>
          <StateButtons group={group} />
          <RerunAll group={group} />
        </>
      }
    >
      <div className="grid grid-cols-1 items-start gap-6 lg:grid-cols-[minmax(0,2fr)_minmax(16rem,1fr)]">
        <div className="space-y-6">
          <LastError runId={group.sample_run_ids[0]} />
          <FailedRuns group={group} runs={runs.data} error={runs.error} onRetry={() => void runs.refetch()} />
        </div>
        <div className="space-y-6">
          <Card>
            <Facts group={group} runs={runs.data ?? []} />
          </Card>
          <Card title="Who hears of it">
            <AssignedChannels group={group} />
          </Card>
        </div>
      </div>
    </Page>
  );
}

function Where({ group: { name, state, step, function_id: id, function_name } }: { group: ErrorGroup }) {
  return (
    <span className="flex flex-wrap items-baseline gap-x-2 gap-y-1">
      <StateBadge state={state} />
      <span className="font-medium text-bad">{name}</span>
      <span>
        in{' '}
        <Link to="/functions/$id" params={{ id }} className="text-accent underline">
          {function_name}
        </Link>
        {step !== null && `, step ${step}`}
      </span>
    </span>
  );
}

/** Where the code failed, as the last failed run says. */
function LastError({ runId: id }: { runId: string | undefined }) {
  const { data: error, isPending, error: problem } = useRunError(id);
  if (id === undefined || error === null || problem) return null;
  const link = (
    <Link to="/runs/$id" params={{ id }} className="text-sm text-accent hover:underline">
      Last failed run
    </Link>
  );
  return (
    <Card title="Where it failed" actions={link}>
      {isPending ? (
        <Loading rows={5} />
      ) : (
        <div className="p-4">
          <ErrorDetails error={error} />
        </div>
      )}
    </Card>
  );
}

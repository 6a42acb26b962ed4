import { getRouteApi, Link } from '@tanstack/react-router';
import type { ErrorGroup } from '../../api/types.ts';
import { SinceDeploy } from '../../features/errors/error-group-line.tsx';
import { useErrorGroup, useLiveErrors } from '../../features/errors/queries.ts';
import { Sparkline } from '../../features/errors/sparkline.tsx';
import { formatCount } from '../../lib/format.ts';
import { Id } from '../../ui/code-block.tsx';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Card, DescriptionItem, DescriptionList, Page } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { RunsLink, StateBadge, StateButton } from './actions.tsx';

const route = getRouteApi('/errors/$fingerprint');

/** One error group. */
export default function ErrorGroupPage() {
  const { fingerprint } = route.useParams();
  const { data, error, refetch } = useErrorGroup(fingerprint);
  useLiveErrors();
  if (data) return <Known group={data} />;
  return (
    <Page title="Error">
      {error ? <ErrorAlert error={error} onRetry={() => void refetch()} /> : <Loading rows={6} />}
    </Page>
  );
}

function Known({ group }: { group: ErrorGroup }) {
  const { name, message, sample_run_ids: samples } = group;
  return (
    <Page
      title={name}
      description={<span className="break-words">{message}</span>}
      actions={<StateButton group={group} />}
    >
      <div className="space-y-6">
        <Card>
          <Facts group={group} />
        </Card>
        <Card title="Latest failed runs" actions={<RunsLink group={group} />}>
          <ul aria-label="Latest failed runs" className="divide-y divide-line">
            {samples.map((id) => (
              <li key={id} className="px-4 py-2.5">
                <Link to="/runs/$id" params={{ id }} className="text-accent hover:underline">
                  <Id id={id} />
                </Link>
              </li>
            ))}
          </ul>
        </Card>
      </div>
    </Page>
  );
}

function Facts({ group }: { group: ErrorGroup }) {
  const { function_id: id, state, step, count, state_changed_by: by } = group;
  return (
    <DescriptionList>
      <DescriptionItem term="State">
        <StateBadge state={state} />
      </DescriptionItem>
      <DescriptionItem term="Function">
        <Link to="/functions/$id" params={{ id }} className="text-accent hover:underline">
          {group.function_name}
        </Link>
      </DescriptionItem>
      <DescriptionItem term="Step">{step ?? 'The function itself'}</DescriptionItem>
      <DescriptionItem term="Failed runs">{formatCount(count)}</DescriptionItem>
      <DescriptionItem term="First seen">
        <Time at={group.first_seen} />
        <SinceDeploy group={group} />
      </DescriptionItem>
      <DescriptionItem term="Last seen">
        <Time at={group.last_seen} />
      </DescriptionItem>
      {by && (
        <DescriptionItem term={`Since when ${state}`}>
          <Time at={group.state_changed_at} />, by {by.name}
        </DescriptionItem>
      )}
      {group.times_reopened > 0 && (
        <DescriptionItem term="Reopened">{formatCount(group.times_reopened)} ×</DescriptionItem>
      )}
      <DescriptionItem term="Last 7 days">
        <Sparkline histogram={group.histogram} />
      </DescriptionItem>
    </DescriptionList>
  );
}

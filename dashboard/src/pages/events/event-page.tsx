import { Link, useParams, useSearch } from '@tanstack/react-router';
import { ApiError } from '../../api/client.ts';
import { useEnv } from '../../api/environment.ts';
import { EmptyState } from '../../ui/empty-state.tsx';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { Actions } from './detail/actions.tsx';
import { CodeTab } from './detail/code-tab.tsx';
import { DecisionsTab } from './detail/decisions-tab.tsx';
import { EventDetails } from './detail/details.tsx';
import { PayloadTab } from './detail/payload-tab.tsx';
import { useEvent, useEventRuns } from './detail/queries.ts';
import { RunsTab } from './detail/runs-tab.tsx';
import { SourceTab } from './detail/source-tab.tsx';

export default function EventPage() {
  const env = useEnv();
  const { id } = useParams({ from: '/events/$id' });
  const { tab = 'payload', view = 'tree', language = 'curl' } = useSearch({ from: '/events/$id' });
  const { data, error, refetch } = useEvent(env, id);
  const event = data?.data;
  const runs = useEventRuns(env, id, event !== undefined);
  if (!event) {
    return (
      <Page title="Event" description={<span className="font-mono text-xs break-all">{id}</span>}>
        <EventUnavailable env={env} error={error} onRetry={() => void refetch()} />
      </Page>
    );
  }
  const count = runs.data?.data.length;
  return (
    <Page
      title={event.name}
      description={
        <Link to="/events" search={{ name: event.name }} className="hover:underline">
          All events with this name
        </Link>
      }
      actions={<Actions env={env} event={event} />}
    >
      <EventDetails env={env} event={event} runs={runs.data?.data} />
      <Tabs
        label="Event sections"
        current={tab}
        tabs={[
          ['payload', 'Payload'],
          ['source', 'Source'],
          ['runs', count === undefined ? 'Runs' : `Runs (${count})`],
          ['decisions', 'Decisions'],
          ['code', 'Code'],
        ]}
      />
      {tab === 'payload' && <PayloadTab key={id} event={event} view={view} />}
      {tab === 'source' && <SourceTab env={env} event={event} />}
      {tab === 'runs' && <RunsTab runs={runs} name={event.name} />}
      {tab === 'decisions' && <DecisionsTab env={env} id={event.internal_id} name={event.name} />}
      {tab === 'code' && <CodeTab env={env} event={event} language={language} />}
    </Page>
  );
}

function EventUnavailable({ env, error, onRetry }: { env: string; error: Error | null; onRetry(): void }) {
  if (error instanceof ApiError && error.status === 404) {
    return (
      <Card>
        <EmptyState title="Event not found">
          <p>
            It is not in {env}, or its retention has ended.{' '}
            <Link to="/events" className="text-accent underline">
              Go to events
            </Link>
          </p>
        </EmptyState>
      </Card>
    );
  }
  if (error) return <ErrorAlert error={error} onRetry={onRetry} />;
  return (
    <Card>
      <Loading rows={10} />
    </Card>
  );
}

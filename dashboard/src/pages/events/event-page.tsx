import { Link, useParams, useSearch } from '@tanstack/react-router';
import { ApiError } from '../../api/client.ts';
import { useEnv } from '../../api/environment.ts';
import { Empty } from '../../ui/empty-state.tsx';
import { Problem } from '../../ui/error-alert.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { Actions } from './detail/actions.tsx';
import { CodeTab } from './detail/code-tab.tsx';
import { EventFacts } from './detail/details.tsx';
import { Payload } from './detail/payload-tab.tsx';
import { useEvent, useRunsOf } from './detail/queries.ts';
import { RunsTab } from './detail/runs-tab.tsx';
import { ArrivalTab } from './detail/source-tab.tsx';

/** One event: what it says, how it came, what it did, and sending it once more. */
export default function EventsEventPage() {
  const env = useEnv();
  const { id } = useParams({ from: '/events/$id' });
  const { tab = 'payload', view = 'tree', language = 'curl' } = useSearch({ from: '/events/$id' });
  const { data, error, refetch } = useEvent(env, id);
  const event = data?.data;
  const runs = useRunsOf(env, id, event !== undefined);
  if (!event) {
    return (
      <Page title="Event" lead={<span className="font-mono text-xs break-all">{id}</span>}>
        <Missing env={env} error={error} onRetry={() => void refetch()} />
      </Page>
    );
  }
  const count = runs.data?.data.length;
  return (
    <Page
      title={event.name}
      lead={
        <Link to="/events" search={{ name: event.name }} className="hover:underline">
          All events of this name
        </Link>
      }
      actions={<Actions env={env} event={event} />}
    >
      <EventFacts env={env} event={event} runs={runs.data?.data} />
      <Tabs
        label="Parts of the event"
        current={tab}
        tabs={[
          ['payload', 'Payload'],
          ['arrival', 'How it came'],
          ['runs', count === undefined ? 'Runs' : `Runs (${count})`],
          ['code', 'Copy as code'],
        ]}
      />
      {tab === 'payload' && <Payload key={id} event={event} view={view} />}
      {tab === 'arrival' && <ArrivalTab env={env} event={event} />}
      {tab === 'runs' && <RunsTab runs={runs} name={event.name} />}
      {tab === 'code' && <CodeTab env={env} event={event} language={language} />}
    </Page>
  );
}

function Missing({ env, error, onRetry }: { env: string; error: Error | null; onRetry(): void }) {
  if (error instanceof ApiError && error.status === 404) {
    return (
      <Card>
        <Empty title="No event has this ID here">
          <p>
            It may be of another environment than {env}, or older than what is kept.{' '}
            <Link to="/events" className="text-accent underline">
              To the events
            </Link>
          </p>
        </Empty>
      </Card>
    );
  }
  if (error) return <Problem error={error} onRetry={onRetry} />;
  return (
    <Card>
      <Loading rows={10} />
    </Card>
  );
}

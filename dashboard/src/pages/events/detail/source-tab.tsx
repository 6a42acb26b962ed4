import { Link } from '@tanstack/react-router';
import type { EventProvenance, LoggedRequestDetails, StoredEvent } from '../../../api/types.ts';
import { CodeBlock } from '../../../ui/code-block.tsx';
import { ErrorAlert } from '../../../ui/error-alert.tsx';
import { Loading } from '../../../ui/loading.tsx';
import { Card, DescriptionItem, DescriptionList } from '../../../ui/page.tsx';
import { duration } from '../../../ui/time.tsx';
import { Source } from '../event-source.tsx';
import { useProvenance } from './queries.ts';

/** The webhook request that caused the event, or the event key it was sent with. */
export function SourceTab({ env, event }: { env: string; event: StoredEvent }) {
  const { data, error, refetch } = useProvenance(env, event.internal_id);
  if (error) return <ErrorAlert error={error} onRetry={() => void refetch()} />;
  if (!data) {
    return (
      <Card>
        <Loading />
      </Card>
    );
  }
  const { webhook, request, event_key } = data.data;
  return (
    <div className="space-y-4">
      <Card title="Sender">
        <DescriptionList>
          <DescriptionItem term="Source">
            <Sender source={event.source} webhook={webhook} eventKey={event_key} />
          </DescriptionItem>
          <DescriptionItem term="Request">
            <span className="font-mono text-xs">{event.request_id}</span>
          </DescriptionItem>
          {request && (
            <>
              <DescriptionItem term="Client">
                {request.method} from <span className="font-mono text-xs">{request.ip}</span>
              </DescriptionItem>
              <DescriptionItem term="Transform">
                {request.outcome} in {duration(request.duration_ms)}
              </DescriptionItem>
            </>
          )}
        </DescriptionList>
      </Card>
      {request && <Request request={request} />}
      {!request && event.source.startsWith('webhook:') && (
        <p className="text-muted">
          The request is no longer in the webhook’s log, which keeps the latest requests for a few days.
        </p>
      )}
    </div>
  );
}

function Sender({
  source,
  webhook,
  eventKey,
}: {
  source: string;
  webhook: EventProvenance['webhook'];
  eventKey: EventProvenance['event_key'];
}) {
  if (webhook) {
    return (
      <>
        Webhook{' '}
        <Link to="/webhooks/$id" params={{ id: webhook.id }} className="text-accent underline">
          {webhook.name}
        </Link>
      </>
    );
  }
  if (eventKey) {
    return (
      <>
        Event key{' '}
        <Link to="/keys" className="text-accent underline">
          {eventKey.name}
        </Link>
      </>
    );
  }
  return <Source source={source} webhooks={[]} />;
}

function Request({ request: { id, headers, query, body } }: { request: LoggedRequestDetails }) {
  return (
    <>
      <Card title="Headers" actions={<span className="text-xs text-muted">secrets masked</span>}>
        <Pairs label="Headers" pairs={pairsOf(headers)} />
      </Card>
      {Object.keys(query).length > 0 && (
        <Card title="Query">
          <Pairs label="Query" pairs={pairsOf(query)} />
        </Card>
      )}
      <Card
        title="Body"
        actions={
          <span className="text-xs text-muted">
            {body === null ? 'not stored' : body.encoding === 'utf8' ? 'as received' : 'binary, shown as Base64'}
          </span>
        }
      >
        {body !== null && <CodeBlock key={id} text={body.content} label="Copy body" />}
      </Card>
    </>
  );
}

function pairsOf(record: Record<string, string | readonly string[]>): [string, string][] {
  return Object.entries(record).flatMap(([name, values]) =>
    [values].flat().map((value): [string, string] => [name, value]),
  );
}

function Pairs({ label, pairs }: { label: string; pairs: [string, string][] }) {
  return (
    <dl aria-label={label} className="divide-y divide-line font-mono text-xs">
      {pairs.map(([name, value]) => (
        <div key={`${name} ${value}`} className="gap-4 px-4 py-2 sm:grid sm:grid-cols-[14rem_minmax(0,1fr)]">
          <dt className="break-all text-muted">{name}</dt>
          <dd className="break-all">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

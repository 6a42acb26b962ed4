import { Link } from '@tanstack/react-router';
import type { LoggedRequestDetails, Webhook } from '../../../api/types.ts';
import { useRequest } from '../../../features/webhooks/queries.ts';
import { formatBytes } from '../../../lib/format.ts';
import { buttonClass } from '../../../ui/button.tsx';
import { Id } from '../../../ui/code-block.tsx';
import { ErrorAlert } from '../../../ui/error-alert.tsx';
import { Icon } from '../../../ui/icon.tsx';
import { Loading } from '../../../ui/loading.tsx';
import { Card, DescriptionItem, DescriptionList } from '../../../ui/page.tsx';
import { duration, Time } from '../../../ui/time.tsx';
import { ConsoleOutput } from '../console-output.tsx';
import { OutcomeBadge, reasonLabel } from '../outcome.tsx';
import { RequestBody } from './request-body.tsx';
import { RerunButton } from './rerun-dialog.tsx';

/** A logged request with its outcome, and a button to re-run it. */
export function RequestDetails({ webhook, requestId }: { webhook: Webhook; requestId: string }) {
  const request = useRequest(webhook.id, requestId);
  return (
    <>
      <div className="mb-4 flex flex-wrap items-center justify-between gap-2">
        <Link
          to="."
          search={(before: object) => ({ ...before, request: undefined }) as never}
          className="inline-flex items-center gap-1 rounded text-muted hover:text-text"
        >
          <Icon name="chevron-left" />
          All requests
        </Link>
        {request.data?.body && (
          <div className="flex flex-wrap gap-2">
            <Link
              to="."
              search={(before: object) =>
                ({ ...before, tab: 'transform', request: undefined, sample: requestId }) as never
              }
              className={buttonClass()}
            >
              <Icon name="code" />
              Open in workbench
            </Link>
            <RerunButton webhook={webhook} requestId={requestId} />
          </div>
        )}
      </div>
      {request.isPending && <Loading />}
      {request.isError && <ErrorAlert error={request.error} onRetry={() => void request.refetch()} />}
      {request.data && <LoadedRequest request={request.data} />}
    </>
  );
}

function LoadedRequest({ request }: { request: LoggedRequestDetails }) {
  const { message, console: lines, headers, query, body } = request;
  return (
    <div className="space-y-5">
      <Card title={<OutcomeBadge outcome={request.outcome} />}>
        <RequestSummary request={request} />
        {message && <p className="mx-4 mb-4 rounded-md bg-bad-soft px-3 py-2 text-sm break-words">{message}</p>}
      </Card>
      {lines.length > 0 && (
        <Card title="Console">
          <div className="p-4">
            <ConsoleOutput lines={lines} />
          </div>
        </Card>
      )}
      <RequestBody body={body} />
      <div className="grid items-start gap-5 lg:grid-cols-2">
        <Values title="Headers" values={Object.entries(headers)} none="None" />
        <Values title="Query" values={Object.entries(query)} none="None" />
      </div>
    </div>
  );
}

function RequestSummary({ request }: { request: LoggedRequestDetails }) {
  return (
    <DescriptionList>
      <DescriptionItem term="Received">
        <Time at={request.received_at} />
      </DescriptionItem>
      <DescriptionItem term="Response">
        {request.status} in {duration(request.duration_ms)}
      </DescriptionItem>
      <DescriptionItem term="Client">
        <span className="font-mono text-xs">
          {request.method} {request.ip}
        </span>
      </DescriptionItem>
      <DescriptionItem term="Body">
        {request.body_bytes === null ? 'not stored' : formatBytes(request.body_bytes)}
      </DescriptionItem>
      <DescriptionItem term="Event">
        <EventLink request={request} />
      </DescriptionItem>
      {request.reason && <DescriptionItem term="Reason">{reasonLabel(request.reason)}</DescriptionItem>}
      <DescriptionItem term="Request ID">
        <Id id={request.id} />
      </DescriptionItem>
      {request.rerun_of && (
        <DescriptionItem term="Re-run of">
          <Link
            to="."
            search={(before: object) => ({ ...before, request: request.rerun_of }) as never}
            className="text-accent underline"
          >
            <Id id={request.rerun_of} />
          </Link>
        </DescriptionItem>
      )}
    </DescriptionList>
  );
}

function EventLink({ request: { ids, event_name, outcome } }: { request: LoggedRequestDetails }) {
  const [id] = ids;
  const name = event_name ?? id;
  if (!name) return <span className="text-muted">none</span>;
  if (!id) return <>{name}</>;
  if (outcome === 'held') {
    return (
      <Link
        to="/held-events"
        search={(before: object) => ({ ...before, id }) as never}
        className="text-accent underline"
      >
        {name}
      </Link>
    );
  }
  return (
    <Link to="/events/$id" params={{ id }} className="text-accent underline">
      {name}
    </Link>
  );
}

function Values({ title, values, none }: { title: string; values: [string, string | string[]][]; none: string }) {
  return (
    <Card title={title}>
      {values.length === 0 ? (
        <p className="p-4 text-muted">{none}</p>
      ) : (
        <dl className="divide-y divide-line">
          {values.map(([name, value]) => (
            <div key={name} className="grid gap-x-4 px-4 py-2 font-mono text-xs sm:grid-cols-[12rem_minmax(0,1fr)]">
              <dt className="break-all text-muted">{name}</dt>
              <dd className="break-all">{[value].flat().join(', ')}</dd>
            </div>
          ))}
        </dl>
      )}
    </Card>
  );
}

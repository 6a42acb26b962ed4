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
import { EventLinks } from '../event-links.tsx';
import { explanationOf } from '../failure-reasons.ts';
import { OutcomeBadge, reasonLabel } from '../outcome.tsx';
import { VerificationBadge } from '../verification-badge.tsx';
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
        {message && (
          <p
            className={`mx-4 mb-4 rounded-md px-3 py-2 text-sm break-words ${request.outcome === 'rejected' ? 'bg-bad-soft' : 'bg-sunken'}`}
          >
            {message}
          </p>
        )}
        <NotVerified verification={request.verification} />
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
        {isCustom(request) && <span className="text-muted"> (set by the transform)</span>}
      </DescriptionItem>
      <DescriptionItem term="Client">
        <span className="font-mono text-xs">
          {request.method} {request.ip}
        </span>
      </DescriptionItem>
      <DescriptionItem term="Body">
        {request.body_bytes === null ? 'not stored' : formatBytes(request.body_bytes)}
        {request.body_path && (
          <>
            {' '}
            <a href={request.body_path} download className="text-accent underline">
              Download
            </a>
          </>
        )}
      </DescriptionItem>
      <DescriptionItem term={request.ids.length > 1 ? 'Events' : 'Event'}>
        <EventLinks {...request} />
      </DescriptionItem>
      {request.verification && (
        <DescriptionItem term="Verification">
          <VerificationBadge verification={request.verification} />
        </DescriptionItem>
      )}
      {request.version !== null && (
        <DescriptionItem term="Webhook version">
          <Link
            to="."
            search={(before: object) =>
              ({ ...before, tab: 'versions', request: undefined, version: request.version }) as never
            }
            className="text-accent underline"
          >
            Version {request.version}
          </Link>
        </DescriptionItem>
      )}
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

/** Reason why a request was not verified, and its remedy. */
function NotVerified({ verification }: { verification: LoggedRequestDetails['verification'] }) {
  const explanation = verification?.result === 'failed' ? explanationOf(verification.reason) : undefined;
  if (!explanation) return null;
  return (
    <div className="mx-4 mb-4 text-sm">
      <p className="font-medium">Not verified: {explanation.label}</p>
      <p>{explanation.remedy} Then re-run the request.</p>
    </div>
  );
}

function isCustom({ outcome, status }: LoggedRequestDetails): boolean {
  return status !== 200 && outcome !== 'rejected' && outcome !== 'handshake';
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

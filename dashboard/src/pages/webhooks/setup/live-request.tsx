import { Link } from '@tanstack/react-router';
import { useHasAccess } from '../../../api/current-user.ts';
import type { ListedRequest, ProviderDetails, Webhook } from '../../../api/types.ts';
import { useRequests } from '../../../features/webhooks/queries.ts';
import { ErrorAlert } from '../../../ui/error-alert.tsx';
import { Loading } from '../../../ui/loading.tsx';
import { Card } from '../../../ui/page.tsx';
import { Time } from '../../../ui/time.tsx';
import { OutcomeBadge } from '../outcome.tsx';
import { VerificationBadge } from '../verification-badge.tsx';
import { Explanation } from './explanation.tsx';
import { VerifyAgain } from './verify-again.tsx';

interface LiveRequestProps {
  webhook: Webhook;
  provider: ProviderDetails;
}

/** The newest request of the webhook as soon as it comes: verified, or why not, and what to do. */
export function LiveRequest({ webhook, provider }: LiveRequestProps) {
  const canWrite = useHasAccess('write');
  const { rows, error, refetch } = useRequests(webhook.id);
  const newest = rows?.[0];
  const canMend = canWrite && newest !== undefined && isMendedBySecret(newest) && provider.secret.needed;
  return (
    <Card title={newest ? 'Latest request' : 'First request'}>
      <div role="status" aria-live="polite">
        {!rows && !error && <Loading rows={3} />}
        {rows && !newest && <Waiting provider={provider} />}
        {newest && <Newest webhook={webhook} request={newest} />}
      </div>
      {error && (
        <div className="p-4">
          <ErrorAlert error={error} onRetry={refetch} />
        </div>
      )}
      {canMend && <VerifyAgain webhook={webhook} provider={provider} requestId={newest.id} />}
    </Card>
  );
}

function Waiting({ provider: { name, kind } }: { provider: ProviderDetails }) {
  return (
    <div className="space-y-1 p-4">
      <p className="flex items-center gap-2 font-medium">
        <span className="size-2 animate-pulse rounded-full bg-accent" aria-hidden="true" />
        Waiting for the first request…
      </p>
      <p className="text-muted">
        Send a test event from {kind === 'provider' ? name : 'the provider'}. It appears here at once, verified or with
        the reason why not.
      </p>
    </div>
  );
}

function Newest({ webhook, request }: { webhook: Webhook; request: ListedRequest }) {
  return (
    <div className="space-y-3 p-4">
      <p className="flex flex-wrap items-center gap-2">
        <OutcomeBadge outcome={request.outcome} />
        <VerificationBadge verification={request.verification} />
        <span className="text-muted">
          <Time at={request.received_at} />
        </span>
        {request.rerun_of && <span className="text-muted">re-run</span>}
        <Link
          to="."
          search={(before: object) => ({ ...before, tab: 'requests', request: request.id }) as never}
          className="text-accent underline"
        >
          Open request
        </Link>
      </p>
      <Explanation webhook={webhook} request={request} />
    </div>
  );
}

/** Whether another secret may make the request a verified one. */
function isMendedBySecret({ verification, body_bytes }: ListedRequest): boolean {
  const { result, reason } = verification ?? {};
  const reasons = ['secret_missing', 'secret_unreadable', 'signature_mismatch', 'signature_malformed'];
  return result === 'failed' && body_bytes !== null && reasons.includes(reason ?? '');
}

import type { ReactNode } from 'react';
import type { ListedRequest, Webhook } from '../../../api/types.ts';
import { Time } from '../../../ui/time.tsx';
import { EventLinks } from '../event-links.tsx';
import { explanationOf } from '../failure-reasons.ts';
import { reasonLabel } from '../outcome.tsx';

/** The result of a request: which secret matched, the events, or why there are none and what to do. */
export function Explanation({ webhook, request }: { webhook: Webhook; request: ListedRequest }) {
  const { verification, outcome, message } = request;
  if (verification?.result === 'failed') return <NotVerified request={request} />;
  return (
    <>
      {verification?.result === 'verified' && <p>{matchedSecret(webhook, verification.secret_id)}</p>}
      {verification?.result === 'skipped' && (
        <p>Verification is off: anyone who knows the URL can send. Turn it on in the settings.</p>
      )}
      {outcome === 'handshake' && (
        <p>The service answered the provider’s handshake, so the URL is proven. Now send an event.</p>
      )}
      <Result request={request} />
      {message && <p className="rounded-md bg-sunken px-3 py-2 text-sm break-words">{message}</p>}
    </>
  );
}

function NotVerified({ request: { verification, message } }: { request: ListedRequest }) {
  const explanation = explanationOf(verification?.reason);
  return (
    <>
      <p className="font-medium">Not verified{explanation ? `: ${explanation.label}` : ''}</p>
      {message && <p className="rounded-md bg-bad-soft px-3 py-2 text-sm break-words">{message}</p>}
      {explanation && <p>{explanation.remedy}</p>}
    </>
  );
}

/** Which of the secrets, where there are several. */
function matchedSecret({ secrets }: Webhook, id: string | null): ReactNode {
  const at = secrets.findIndex((secret) => secret.id === id);
  const secret = secrets[at];
  if (!secret) return 'Verified.';
  const which = secrets.length === 1 ? 'the secret' : at === 0 ? 'the new secret' : 'the former secret';
  return (
    <>
      Verified with {which} that was added <Time at={secret.added_at} />.
    </>
  );
}

function Result({ request }: { request: ListedRequest }) {
  const { outcome, reason, ids } = request;
  switch (outcome) {
    case 'accepted':
    case 'held':
      return (
        <div className="flex flex-wrap gap-x-2">
          <span>
            {outcome === 'held'
              ? 'On the holding page:'
              : ids.length === 1
                ? 'It made the event'
                : 'It made the events'}
          </span>
          <EventLinks {...request} />
        </div>
      );
    case 'ignored':
      return <p>The transform returned no event.</p>;
    case 'filtered':
      return <p>It made no event: {reasonLabel(reason ?? '')}.</p>;
    case 'rejected':
      return <p className="font-medium first-letter:uppercase">{reasonLabel(reason ?? 'internal')}</p>;
    default:
      return null;
  }
}

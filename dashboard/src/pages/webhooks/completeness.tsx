import { useHasAccess } from '../../api/current-user.ts';
import type { Webhook, WebhookCompleteness } from '../../api/types.ts';
import { useCompleteness, useReconcile } from '../../features/webhooks/completeness.ts';
import { Button } from '../../ui/button.tsx';
import { Id } from '../../ui/code-block.tsx';
import { Badge } from '../../ui/status-badge.tsx';
import { DateTime, Time } from '../../ui/time.tsx';
import { reasonLabel } from './outcome.tsx';

/** What is missing, for a webhook with access to what its provider sent. */
export function Completeness({ webhook }: { webhook: Webhook }) {
  const { data } = useCompleteness(webhook);
  const reconcile = useReconcile(webhook.id);
  const canWrite = useHasAccess('write');
  if (webhook.reconciliation === null || !data) return null;
  return (
    <section aria-label="Completeness" className="mb-6 rounded-lg border border-line bg-surface px-4 py-2">
      <div className="flex flex-wrap items-center gap-3">
        <Badge {...badgeOf(data)} />
        <p className="min-w-0 flex-1 basis-64">
          <Answer completeness={data} />
        </p>
        <Button
          icon="retry"
          disabled={!canWrite}
          busy={reconcile.isPending || (data.is_running && data.problem === null)}
          onClick={() => reconcile.mutate()}
        >
          Reconcile
        </Button>
      </div>
      {data.problem && (
        <p className="mt-1 text-sm text-muted">
          <Time at={data.problem.at} />: {data.problem.message}.{' '}
          {data.next_at && (
            <>
              The next try is due <Time at={data.next_at} />.
            </>
          )}
        </p>
      )}
      {data.missing > 0 && <Missing completeness={data} />}
    </section>
  );
}

function badgeOf({ since, missing, problem }: WebhookCompleteness) {
  if (missing > 0) return { tone: 'bad', icon: 'close', children: 'incomplete' } as const;
  if (problem) return { tone: 'warn', icon: 'clock', children: 'not compared' } as const;
  if (since === null) return { tone: 'neutral', icon: 'clock', children: 'not compared yet' } as const;
  return { tone: 'good', icon: 'check', children: 'complete' } as const;
}

function Answer({ completeness }: { completeness: WebhookCompleteness }) {
  const { since, until, sent, received, recovered, missing } = completeness;
  if (since === null || until === null) return 'Requests of the last minute may be on their way.';
  const [all, came, back, gone] = [sent, received, recovered, missing].map((count) => count.toLocaleString('en'));
  return (
    <>
      {missing === 0 ? 'Complete since' : 'Since'} <DateTime at={since} />: {all} sent, {came} came, {back} recovered,{' '}
      {gone} missing
    </>
  );
}

function Missing({ completeness: { missing, missing_requests } }: { completeness: WebhookCompleteness }) {
  return (
    <ul aria-label="Missing requests" className="mt-2 max-h-48 space-y-1 overflow-y-auto text-sm">
      {missing_requests.map(({ id, sent_at, reason, message }) => (
        <li key={id} className="flex flex-wrap gap-x-3" title={message ?? undefined}>
          <Id id={id} />
          <span className="text-muted">
            sent <Time at={sent_at} />
          </span>
          <span>{reason === null ? 'not tried yet' : reasonLabel(reason)}</span>
        </li>
      ))}
      {missing > missing_requests.length && (
        <li className="text-muted">and {(missing - missing_requests.length).toLocaleString('en')} more</li>
      )}
    </ul>
  );
}

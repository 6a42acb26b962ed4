import type { Webhook } from '../../../api/types.ts';
import { useIssuesOfWebhook } from '../../../features/webhooks/issues.ts';
import { EmptyState } from '../../../ui/empty-state.tsx';
import { ErrorAlert } from '../../../ui/error-alert.tsx';
import { Loading } from '../../../ui/loading.tsx';
import { WebhookReplays } from '../requests/replays.tsx';
import { IssueList } from './issue-list.tsx';

/** The issues of the webhook, and replays of failed requests. */
export default function IssuesTab({ webhook }: { webhook: Webhook }) {
  const issues = useIssuesOfWebhook(webhook.id);
  if (issues.isPending) return <Loading />;
  if (issues.isError) return <ErrorAlert error={issues.error} onRetry={() => void issues.refetch()} />;
  return (
    <>
      <WebhookReplays webhook={webhook} />
      {issues.data.length === 0 ? (
        <EmptyState title="No issues">
          An issue opens when a request fails verification or the transform, or when no more requests come.
        </EmptyState>
      ) : (
        <IssueList issues={issues.data} />
      )}
    </>
  );
}

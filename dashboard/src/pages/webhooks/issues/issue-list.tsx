import { Link } from '@tanstack/react-router';
import { callApi } from '../../../api/client.ts';
import { useHasAccess } from '../../../api/current-user.ts';
import type { WebhookIssue } from '../../../api/types.ts';
import { Button } from '../../../ui/button.tsx';
import { Card, DescriptionItem, DescriptionList } from '../../../ui/page.tsx';
import { Badge } from '../../../ui/status-badge.tsx';
import { Time } from '../../../ui/time.tsx';
import { useAction } from '../../../ui/use-action.ts';
import { explanationOf } from '../failure-reasons.ts';
import { reasonLabel } from '../outcome.tsx';
import { ReplayIssueButton } from './replay-issue.tsx';
import { ACTIONS, type Action, KINDS, LABELS, STATES } from './texts.ts';

interface IssueListProps {
  issues: readonly WebhookIssue[];
  /** On the page of all webhooks. */
  showsWebhook?: boolean;
}

export function IssueList({ issues, showsWebhook = false }: IssueListProps) {
  return (
    <ul aria-label="Issues" className="space-y-4">
      {issues.map((issue) => (
        <li key={issue.id}>
          <Issue issue={issue} showsWebhook={showsWebhook} />
        </li>
      ))}
    </ul>
  );
}

function Issue({ issue, showsWebhook }: { issue: WebhookIssue; showsWebhook: boolean }) {
  const { webhook_id: id, webhook_name, kind, state, sample } = issue;
  const [tone, icon, meaning] = STATES[state];
  const canWrite = useHasAccess('write');
  return (
    <Card
      title={
        <span className="flex flex-wrap items-center gap-2">
          <Badge tone={tone} icon={icon} title={meaning}>
            {state}
          </Badge>
          {KINDS[kind]}
          {showsWebhook && (
            <Link
              to="/webhooks/$id"
              params={{ id }}
              search={{ tab: 'issues' }}
              className="font-normal text-accent underline"
            >
              {webhook_name}
            </Link>
          )}
        </span>
      }
    >
      <Facts issue={issue} />
      <div className="mx-4 mb-4 rounded-md bg-sunken px-3 py-2 text-sm break-words">
        <p>{sample.message}</p>
        {sample.request_id && (
          <Link
            to="/webhooks/$id"
            params={{ id }}
            search={{ tab: 'requests', request: sample.request_id }}
            className="text-accent underline"
          >
            Last failed request
          </Link>
        )}
      </div>
      <div className="flex flex-wrap items-center gap-2 border-t border-line px-4 py-3">
        {canWrite ? <Actions issue={issue} /> : <p className="text-xs text-muted">Requires write access</p>}
      </div>
    </Card>
  );
}

function Facts({ issue }: { issue: WebhookIssue }) {
  const { kind, state, count, first_seen, last_seen, times_reopened, state_changed_at, state_changed_by: by } = issue;
  return (
    <DescriptionList>
      <DescriptionItem term={kind === 'silence' ? 'How often' : 'Failed requests'}>
        {count.toLocaleString()}
      </DescriptionItem>
      <DescriptionItem term="First seen">
        <Time at={first_seen} />
      </DescriptionItem>
      <DescriptionItem term="Last seen">
        <Time at={last_seen} />
      </DescriptionItem>
      {kind !== 'silence' && <DescriptionItem term="Reasons">{reasonsText(issue)}</DescriptionItem>}
      {by && (
        <DescriptionItem term={`Since when ${state}`}>
          <Time at={state_changed_at} />, {by.kind === 'traffic' ? 'requests came again' : `by ${by.name}`}
        </DescriptionItem>
      )}
      {times_reopened > 0 && <DescriptionItem term="Reopened">{times_reopened.toLocaleString()} times</DescriptionItem>}
    </DescriptionList>
  );
}

function Actions({ issue }: { issue: WebhookIssue }) {
  const act = useAction({
    run: (action: Action) => callApi(`/v1/webhook-issues/${issue.id}/${action}`, { method: 'POST' }),
    invalidates: 'webhook-issues',
    successMessage: (action) => LABELS[action][1],
  });
  return (
    <>
      {issue.kind !== 'silence' && <ReplayIssueButton issue={issue} />}
      {ACTIONS[issue.state].map((action) => {
        const [label, , icon] = LABELS[action];
        return (
          <Button key={action} icon={icon} busy={act.isPending} onClick={() => act.mutate(action)}>
            {label}
          </Button>
        );
      })}
    </>
  );
}

/** The most frequent one first. */
function reasonsText({ reasons }: WebhookIssue): string {
  return Object.entries(reasons)
    .toSorted(([, a], [, b]) => b - a)
    .map(([reason, count]) => `${explanationOf(reason)?.label ?? reasonLabel(reason)}: ${count.toLocaleString()}`)
    .join(', ');
}

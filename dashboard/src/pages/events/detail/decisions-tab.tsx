import { Link } from '@tanstack/react-router';
import type { EventDecision } from '../../../api/types.ts';
import { EmptyState } from '../../../ui/empty-state.tsx';
import { ErrorAlert } from '../../../ui/error-alert.tsx';
import type { IconName } from '../../../ui/icon.tsx';
import { Loading } from '../../../ui/loading.tsx';
import { Card } from '../../../ui/page.tsx';
import { Badge, type Tone } from '../../../ui/status-badge.tsx';
import { readText, sentenceOf } from './decision-text.ts';
import { useEventDecisions } from './queries.ts';

const OUTCOMES: Record<EventDecision['outcome'], [label: string, Tone, IconName]> = {
  ran: ['Ran', 'good', 'check'],
  skipped: ['Did not run', 'neutral', 'close'],
  merged: ['Merged', 'busy', 'check'],
  pending: ['Pending', 'busy', 'clock'],
  unknown: ['Unknown', 'warn', 'dot'],
};

/** For each function that listens to the event: that it ran, or why it did not. */
export function DecisionsTab({ env, id, name }: { env: string; id: string; name: string }) {
  const { data, error, refetch } = useEventDecisions(env, id);
  if (error) return <ErrorAlert error={error} onRetry={() => void refetch()} />;
  if (!data) {
    return (
      <Card>
        <Loading />
      </Card>
    );
  }
  if (data.data.length === 0) {
    return (
      <Card>
        <EmptyState title="No function listens">
          <p>
            No function has a trigger for <span className="font-mono text-xs">{name}</span>.{' '}
            <Link to="/functions" className="text-accent underline">
              Go to functions
            </Link>
          </p>
        </EmptyState>
      </Card>
    );
  }
  return (
    <Card>
      <ul aria-label="Decisions" className="divide-y divide-line">
        {data.data.map((decision) => (
          <Entry key={decision.function_id} decision={decision} />
        ))}
      </ul>
      {data.metadata.cursor !== undefined && (
        <p className="border-t border-line p-4 text-muted">
          These are the first {data.data.length} functions. <code>GET /v1/events/{id}/decisions</code> has all.
        </p>
      )}
    </Card>
  );
}

function Entry({ decision }: { decision: EventDecision }) {
  const { function_id, outcome, run_ids, expressions, changed_since, keys_not_evaluated } = decision;
  const [label, tone, icon] = OUTCOMES[outcome];
  return (
    <li className="space-y-2 p-4">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <Link
          to="/functions/$id"
          params={{ id: function_id }}
          className="min-w-0 font-medium break-all hover:underline"
        >
          {function_id}
        </Link>
        <Badge tone={tone} icon={icon}>
          {label}
        </Badge>
      </div>
      <p>
        {sentenceOf(decision)}{' '}
        {run_ids.map((run) => (
          <Link key={run} to="/runs/$id" params={{ id: run }} className="mr-2 text-accent underline" title={run}>
            Run …{run.slice(-6)}
          </Link>
        ))}
      </p>
      {expressions?.map(({ expression, reads }) => (
        <div key={expression} className="text-xs">
          <code className="font-mono break-all">{expression}</code>
          <ul className="mt-1 text-muted">
            {reads.map((read) => (
              <li key={read.path} className="font-mono break-all">
                {readText(read)}
              </li>
            ))}
          </ul>
        </div>
      ))}
      {changed_since && <p className="text-muted">The function has other triggers now.</p>}
      {keys_not_evaluated.map(({ option, expression }) => (
        <p key={`${option} ${expression}`} className="text-muted">
          The key of <code>{option}</code> cannot be evaluated on this event and counts as empty:{' '}
          <code className="font-mono text-xs break-all">{expression}</code>
        </p>
      ))}
    </li>
  );
}

import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { useHasAccess } from '../../../api/current-user.ts';
import type { Webhook, WebhookReplay } from '../../../api/types.ts';
import { isOpen, totalOf, useOperationChange } from '../../../ui/bulk-operations/operation.ts';
import { OperationProgress, PauseButton } from '../../../ui/bulk-operations/operation-progress.tsx';
import { OperationStatus } from '../../../ui/bulk-operations/operation-status.tsx';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/page.tsx';
import { SegmentedControl } from '../../../ui/segmented-control.tsx';
import { Time } from '../../../ui/time.tsx';
import { reasonLabel } from '../outcome.tsx';
import { useWebhookReplayResults, useWebhookReplays, type WebhookReplayOutcome } from './replay-queries.ts';

type Replay = Omit<WebhookReplay, 'request_ids'>;

const SHOWN = 5;
/** The latest replays of the webhook's requests, with their progress; nothing if there are none. */
export function WebhookReplays({ webhook }: { webhook: Webhook }) {
  const { data: replays = [] } = useWebhookReplays(webhook.id);
  const [all, setAll] = useState(false);
  useRefreshedLog(replays);
  if (replays.length === 0) return null;
  return (
    <Card
      title="Replays"
      className="mb-4"
      actions={
        replays.length > SHOWN && (
          <Button variant="ghost" onClick={() => setAll(!all)}>
            {all ? 'Show fewer' : `Show all ${replays.length}`}
          </Button>
        )
      }
    >
      <ul aria-label="Replays" className="divide-y divide-line">
        {replays.slice(0, all ? replays.length : SHOWN).map((replay) => (
          <li key={replay.id} className="px-4 py-3">
            <OneReplay webhookId={webhook.id} replay={replay} />
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** Requests that are replayed appear in the log. */
function useRefreshedLog(replays: readonly Replay[]): void {
  const queries = useQueryClient();
  const handled = replays.reduce((sum, { done, failed, skipped }) => sum + done + failed + skipped, 0);
  const before = useRef(handled);
  useEffect(() => {
    if (before.current !== handled) void queries.invalidateQueries({ queryKey: ['webhook-requests'] });
    before.current = handled;
  }, [queries, handled]);
}

function OneReplay({ webhookId, replay }: { webhookId: string; replay: Replay }) {
  const { id, state, waiting_for, with_draft, total, total_is_exact, done, failed, skipped, created_at } = replay;
  const [shown, setShown] = useState<WebhookReplayOutcome>();
  const canWrite = useHasAccess('write');
  const change = useOperationChange({
    path: `/v1/webhooks/${webhookId}/replays/${id}`,
    invalidates: 'webhook-replays',
  });
  const counts = { done, failed, skipped };
  const handled = totalOf(counts);
  return (
    <div className="space-y-2">
      <div className="flex flex-wrap items-center gap-3 text-sm">
        <OperationStatus status={state} />
        <span>
          {handled.toLocaleString()} of {total_is_exact ? '' : 'more than '}
          {total.toLocaleString()} requests {with_draft ? 'through a draft' : 'through the saved transform'}
        </span>
        <span className="text-muted">
          <Time at={created_at} />
        </span>
        {canWrite && isOpen(state) && (
          <span className="ml-auto flex gap-2">
            <PauseButton
              status={state}
              noun="replay"
              busy={change.isPending}
              onChange={(verb) => change.mutate({ verb })}
            />
            <Button
              variant="danger"
              icon="close"
              busy={change.isPending}
              onClick={() => change.mutate({ verb: 'cancel' })}
            >
              Cancel replay
            </Button>
          </span>
        )}
      </div>
      {isOpen(state) && (
        <OperationProgress
          label="Progress of the replay"
          share={total === 0 ? 0 : handled / total}
          waits={waiting_for && reasonLabel(waiting_for)}
        />
      )}
      {handled > 0 && (
        <SegmentedControl<WebhookReplayOutcome | 'none'>
          label="Results"
          options={[
            ['none', 'No results'],
            ['done', `Made an event: ${done.toLocaleString()}`],
            ['failed', `Failed: ${failed.toLocaleString()}`],
            ['skipped', `Skipped: ${skipped.toLocaleString()}`],
          ]}
          value={shown ?? 'none'}
          onChange={(selected) => setShown(selected === 'none' ? undefined : selected)}
        />
      )}
      {shown && <Results webhookId={webhookId} replayId={id} status={shown} count={counts[shown]} />}
    </div>
  );
}

interface ResultsProps {
  webhookId: string;
  replayId: string;
  status: WebhookReplayOutcome;
  count: number;
}

function Results({ webhookId, replayId, status, count }: ResultsProps) {
  const { data = [] } = useWebhookReplayResults(webhookId, replayId, status, count);
  if (count === 0) return <p className="text-sm text-muted">None.</p>;
  return (
    <ul aria-label="Results of the replay" className="max-h-64 space-y-1 overflow-auto text-sm">
      {data.map(({ request_id, event_id, reason, message }) => (
        <li key={request_id} className="flex flex-wrap gap-x-3">
          <Link
            to="."
            search={((before: object) => ({ ...before, tab: 'requests', request: request_id })) as never}
            className="text-accent hover:underline"
          >
            Request …{request_id.slice(-6)}
          </Link>
          {event_id && (
            <Link to="/events/$id" params={{ id: event_id }} className="text-accent hover:underline">
              Event …{event_id.slice(-6)}
            </Link>
          )}
          {reason && <span className="text-muted">{reasonLabel(reason)}</span>}
          {message && <span className="min-w-0 break-words text-muted">{message}</span>}
        </li>
      ))}
      {data.length < count && <li className="text-muted">The last {data.length.toLocaleString()} are listed.</li>}
    </ul>
  );
}

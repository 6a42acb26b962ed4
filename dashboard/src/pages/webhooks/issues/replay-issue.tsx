import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { WebhookIssue } from '../../../api/types.ts';
import { type IssueReplay, replayIssue } from '../../../features/webhooks/issues.ts';
import { isRate } from '../../../ui/bulk-operations/operation.ts';
import { RateField, StartDialog } from '../../../ui/bulk-operations/start-dialog.tsx';
import { Button } from '../../../ui/button.tsx';
import { SegmentedControl } from '../../../ui/segmented-control.tsx';
import { Time } from '../../../ui/time.tsx';
import { useAction } from '../../../ui/use-action.ts';
import { ReplayDryRun } from '../requests/replay-dry-run.tsx';
import {
  type ListedReplay,
  useWebhookReplays,
  WEBHOOK_RATE_DEFAULT,
  WEBHOOK_RATE_MAX,
} from '../requests/replay-queries.ts';

/** Replays the requests that failed. A dry run comes first. */
export function ReplayIssueButton({ issue }: { issue: WebhookIssue }) {
  const [open, setOpen] = useState(false);
  const wasReplayed = issue.replay_id !== null;
  const { data } = useWebhookReplays(issue.webhook_id, { enabled: wasReplayed });
  const note = wasReplayed ? <ReplayNote replay={data?.find(({ id }) => id === issue.replay_id)} /> : undefined;
  return (
    <>
      <Button icon="replay" variant="primary" onClick={() => setOpen(true)}>
        Replay all that failed
      </Button>
      {note && <span className="text-sm text-muted">{note}</span>}
      {open && <ReplayIssueDialog issue={issue} note={note} onClose={() => setOpen(false)} />}
    </>
  );
}

/** @param replay undefined: it is no longer stored */
function ReplayNote({ replay }: { replay: ListedReplay | undefined }) {
  if (!replay) return 'Replayed before';
  return (
    <>
      Replayed <Time at={replay.created_at} />
      {replay.started_by && ` by ${replay.started_by.name}`}
    </>
  );
}

/** @param note says that the requests were replayed before */
function ReplayIssueDialog({ issue, note, onClose }: { issue: WebhookIssue; note: ReactNode; onClose(): void }) {
  const [since, setSince] = useState<IssueReplay['since']>('opened_at');
  const [rate, setRate] = useState(WEBHOOK_RATE_DEFAULT);
  const navigate = useNavigate();
  const dryRun = useQuery({
    queryKey: ['webhook-issue-dry-run', issue.id, since],
    queryFn: async () => (await replayIssue(issue.id, { since, rate: WEBHOOK_RATE_DEFAULT }, true)).dry_run,
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  const start = useAction({
    run: () => replayIssue(issue.id, { since, rate }, false),
    invalidates: 'webhook-replays',
    successMessage: 'Replay started',
    onSuccess: () => {
      onClose();
      void navigate({ to: '/webhooks/$id', params: { id: issue.webhook_id }, search: { tab: 'issues' } });
    },
    showsError: true,
  });
  return (
    <StartDialog
      title="Replay all that failed"
      onClose={onClose}
      error={start.error ?? dryRun.error}
      dryRun={{
        busy: dryRun.isFetching,
        result: dryRun.data ? <ReplayDryRun result={dryRun.data} /> : undefined,
        run: () => void dryRun.refetch(),
      }}
      start={{
        busy: start.isPending,
        possible: isRate(rate, WEBHOOK_RATE_MAX) && dryRun.data?.total !== 0,
        run: () => start.mutate(),
        ...(note && {
          again: <>{note}. Requests that made an event then are processed once more, too.</>,
        }),
      }}
    >
      <p className="text-muted">
        The requests are processed by the webhook as it is now, the oldest first. Those that failed verification are
        verified again.
      </p>
      {issue.times_reopened > 0 && (
        <SegmentedControl<IssueReplay['since']>
          label="Failed since"
          options={[
            ['opened_at', 'Since it was last reopened'],
            ['first_seen', 'Since it was first seen'],
          ]}
          value={since}
          onChange={setSince}
        />
      )}
      <RateField label="Requests per second" value={rate} max={WEBHOOK_RATE_MAX} onChange={setRate} />
    </StartDialog>
  );
}

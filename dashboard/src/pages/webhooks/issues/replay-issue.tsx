import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { WebhookIssue } from '../../../api/types.ts';
import { type IssueReplay, replayIssue } from '../../../features/webhooks/issues.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { ErrorAlert } from '../../../ui/error-alert.tsx';
import { TextField } from '../../../ui/field.tsx';
import { Loading } from '../../../ui/loading.tsx';
import { SegmentedControl } from '../../../ui/segmented-control.tsx';
import { useAction } from '../../../ui/use-action.ts';
import { ReplayDryRun } from '../requests/replay-dry-run.tsx';

const RATE_MAX = 100;
const RATE_DEFAULT = 10;

/** Replays the requests that failed. A dry run comes first. */
export function ReplayIssueButton({ issue }: { issue: WebhookIssue }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button icon="replay" variant="primary" onClick={() => setOpen(true)}>
        Replay all that failed
      </Button>
      {open && <ReplayIssueDialog issue={issue} onClose={() => setOpen(false)} />}
    </>
  );
}

function ReplayIssueDialog({ issue, onClose }: { issue: WebhookIssue; onClose(): void }) {
  const [since, setSince] = useState<IssueReplay['since']>('opened_at');
  const [rate, setRate] = useState(RATE_DEFAULT);
  const navigate = useNavigate();
  const dryRun = useQuery({
    queryKey: ['webhook-issue-dry-run', issue.id, since],
    queryFn: async () => (await replayIssue(issue.id, { since, rate: RATE_DEFAULT }, true)).dry_run,
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
  const isValid = Number.isInteger(rate) && rate >= 1 && rate <= RATE_MAX;
  const error = start.error ?? dryRun.error;
  const isEmpty = !dryRun.data || dryRun.data.total === 0;
  return (
    <Dialog
      open
      wide
      title="Replay all that failed"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Close</Button>
          <Button icon="search" busy={dryRun.isFetching} onClick={() => void dryRun.refetch()}>
            Dry run again
          </Button>
          <Button
            icon="play"
            variant="primary"
            busy={start.isPending}
            disabled={!isValid || isEmpty}
            onClick={() => start.mutate()}
          >
            Start
          </Button>
        </>
      }
    >
      <div className="space-y-4">
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
        <TextField
          label="Requests per second"
          type="number"
          min={1}
          max={RATE_MAX}
          className="max-w-32"
          value={Number.isNaN(rate) ? '' : rate}
          error={isValid ? undefined : `From 1 to ${RATE_MAX}`}
          onChange={({ target }) => setRate(target.valueAsNumber)}
        />
        {error && <ErrorAlert error={error} />}
        {dryRun.isFetching ? <Loading rows={4} /> : dryRun.data && <ReplayDryRun result={dryRun.data} />}
      </div>
    </Dialog>
  );
}

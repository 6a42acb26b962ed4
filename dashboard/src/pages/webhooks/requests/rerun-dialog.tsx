import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { callApi } from '../../../api/client.ts';
import { useHasAccess } from '../../../api/current-user.ts';
import type { LoggedRequest, TransformResult, Webhook } from '../../../api/types.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { ErrorAlert } from '../../../ui/error-alert.tsx';
import { JsonTree } from '../../../ui/json-tree.tsx';
import { Loading } from '../../../ui/loading.tsx';
import { ConsoleOutput } from '../console-output.tsx';
import { OutcomeBadge, reasonLabel } from '../outcome.tsx';

type Rerun = Pick<LoggedRequest, 'outcome' | 'reason' | 'ids' | 'console'> &
  Pick<TransformResult, 'event' | 'duration_ms'> & { dry_run: boolean };

/** Previews the request with the current transform before re-running it. */
export function RerunButton({ webhook, requestId }: { webhook: Webhook; requestId: string }) {
  const [open, setOpen] = useState(false);
  const canWrite = useHasAccess('write');
  const queries = useQueryClient();
  const run = useMutation({
    mutationFn: async (dryRun: boolean) => {
      const path = `/v1/webhooks/${webhook.id}/requests/${requestId}/rerun`;
      return (await callApi<Rerun>(path, { method: 'POST', body: { dry_run: dryRun } })).data;
    },
    onSettled: (_, __, dryRun) => (dryRun ? undefined : queries.invalidateQueries({ queryKey: ['webhook-requests'] })),
  });
  const done = run.data?.dry_run === false;
  const start = () => {
    setOpen(true);
    run.mutate(true);
  };
  return (
    <>
      <Button icon="retry" disabled={!canWrite} title={canWrite ? undefined : 'Requires write access'} onClick={start}>
        Re-run
      </Button>
      <Dialog
        open={open}
        wide
        title={done ? 'Request re-run' : 'Re-run this request?'}
        onClose={() => setOpen(false)}
        footer={
          <>
            <Button onClick={() => setOpen(false)}>{done ? 'Close' : 'Cancel'}</Button>
            {!done && (
              <Button
                variant="primary"
                icon="retry"
                busy={run.isPending}
                disabled={!run.data}
                onClick={() => run.mutate(false)}
              >
                Re-run
              </Button>
            )}
          </>
        }
      >
        {run.isPending && <Loading rows={4} />}
        {run.isError && <ErrorAlert error={run.error} onRetry={() => run.mutate(true)} />}
        {run.data && <RerunResult result={run.data} />}
      </Dialog>
    </>
  );
}

function RerunResult({ result: { dry_run, outcome, reason, event, ids, console: lines } }: { result: Rerun }) {
  const [id] = ids;
  return (
    <div className="space-y-4">
      <p className="flex flex-wrap items-center gap-2">
        {dry_run ? 'Result with the saved transform:' : 'Result:'} <OutcomeBadge outcome={outcome} />
        {reason && <span className="text-muted">{reasonLabel(reason)}</span>}
        {id && outcome === 'accepted' && (
          <Link to="/events/$id" params={{ id }} className="text-accent underline">
            Open event
          </Link>
        )}
      </p>
      {dry_run && outcome === 'accepted' && (
        <p className="text-muted">
          The re-run creates a new event and runs its functions, unless its ID was used in the last 24 hours.
        </p>
      )}
      {event && (
        <div className="rounded-lg border border-line">
          <JsonTree value={event} label="Event" />
        </div>
      )}
      {lines.length > 0 && <ConsoleOutput lines={lines} />}
    </div>
  );
}

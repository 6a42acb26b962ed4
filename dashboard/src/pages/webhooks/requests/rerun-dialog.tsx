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

/** Shows what today's transform makes of the request before it is put through for real. */
export function RerunButton({ webhook, requestId }: { webhook: Webhook; requestId: string }) {
  const [open, setOpen] = useState(false);
  const mayWrite = useHasAccess('write');
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
      <Button
        icon="again"
        disabled={!mayWrite}
        title={mayWrite ? undefined : 'Running it again needs write access'}
        onClick={start}
      >
        Run again
      </Button>
      <Dialog
        open={open}
        wide
        title={done ? 'It was run again' : 'Run this request again?'}
        onClose={() => setOpen(false)}
        footer={
          <>
            <Button onClick={() => setOpen(false)}>{done ? 'Close' : 'Cancel'}</Button>
            {!done && (
              <Button
                variant="primary"
                icon="again"
                busy={run.isPending}
                disabled={!run.data}
                onClick={() => run.mutate(false)}
              >
                Run it for real
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
        {dry_run ? 'By the transform that is saved today it would be' : 'It was'} <OutcomeBadge outcome={outcome} />
        {reason && <span className="text-muted">{reasonLabel(reason)}</span>}
        {id && outcome === 'accepted' && (
          <Link to="/events/$id" params={{ id }} className="text-accent underline">
            Open the event
          </Link>
        )}
      </p>
      {dry_run && outcome === 'accepted' && (
        <p className="text-muted">
          For real, the event is new and its functions run, unless its id was seen within 24 hours.
        </p>
      )}
      {event && (
        <div className="rounded-lg border border-line">
          <JsonTree value={event} label="The event" />
        </div>
      )}
      {lines.length > 0 && <ConsoleOutput lines={lines} />}
    </div>
  );
}

import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useHasAccess } from '../../../api/current-user.ts';
import type { Webhook } from '../../../api/types.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { ErrorAlert } from '../../../ui/error-alert.tsx';
import { JsonTree } from '../../../ui/json-tree.tsx';
import { Loading } from '../../../ui/loading.tsx';
import { ConsoleOutput } from '../console-output.tsx';
import { CustomResponse } from '../custom-response.tsx';
import { OutcomeBadge, reasonLabel } from '../outcome.tsx';
import { type Rerun, useRerun } from './use-rerun.ts';

/** Previews the request with the current transform before re-running it. */
export function RerunButton({ webhook, requestId }: { webhook: Webhook; requestId: string }) {
  const [open, setOpen] = useState(false);
  const canWrite = useHasAccess('write');
  const run = useRerun(webhook.id);
  const done = run.data?.dry_run === false;
  const start = () => {
    setOpen(true);
    run.mutate({ requestId, dryRun: true });
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
                onClick={() => run.mutate({ requestId, dryRun: false })}
              >
                Re-run
              </Button>
            )}
          </>
        }
      >
        {run.isPending && <Loading rows={4} />}
        {run.isError && <ErrorAlert error={run.error} onRetry={() => run.mutate({ requestId, dryRun: true })} />}
        {run.data && <RerunResult result={run.data} />}
      </Dialog>
    </>
  );
}

function RerunResult({
  result: { dry_run, outcome, reason, event, events, response, ids, console: lines },
}: {
  result: Rerun;
}) {
  const shown = events.length > 0 ? events : event ? [event] : [];
  return (
    <div className="space-y-4">
      <p className="flex flex-wrap items-center gap-2">
        {dry_run ? 'Result with the saved transform:' : 'Result:'} <OutcomeBadge outcome={outcome} />
        {reason && <span className="text-muted">{reasonLabel(reason)}</span>}
        {outcome === 'accepted' &&
          ids.map((id, at) => (
            <Link key={id} to="/events/$id" params={{ id }} className="text-accent underline">
              {ids.length === 1 ? 'Open event' : `Open event ${at + 1}`}
            </Link>
          ))}
      </p>
      {dry_run && outcome === 'accepted' && (
        <p className="text-muted">
          The re-run creates a new event and runs its functions, unless its ID was used in the last 24 hours.
        </p>
      )}
      {shown.map((one, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they have no identity but their position
        <div key={at} className="rounded-lg border border-line">
          <JsonTree value={one} label={shown.length === 1 ? 'Event' : `Event ${at + 1}`} />
        </div>
      ))}
      {response && <CustomResponse response={response} />}
      {lines.length > 0 && <ConsoleOutput lines={lines} />}
    </div>
  );
}

/** The progress of bulk actions, in a corner of every page until it is closed. */
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { ApiError } from '../../../api/client.ts';
import { useEnv } from '../../../api/environment.ts';
import type { BulkAction } from '../../../api/types.ts';
import { isOpen, totalOf, useOperationChange } from '../../../ui/bulk-operations/operation.ts';
import { OperationProgress, PauseButton } from '../../../ui/bulk-operations/operation-progress.tsx';
import { waitingText } from '../../../ui/bulk-operations/texts.ts';
import { Button, IconButton } from '../../../ui/button.tsx';
import { BulkDialog } from './bulk-dialog.tsx';
import { BulkResults } from './bulk-results.tsx';
import { useBulkAction } from './requests.ts';
import { ACTION_NAMES, DONE_NAMES, notListedText, runs, SKIP_TEXTS } from './texts.ts';
import { type TrackedBulk, untrackBulk, useTrackedBulks } from './tracked.ts';

export default function BulkPanel() {
  const tracked = useTrackedBulks();
  return (
    <section
      aria-label="Bulk actions"
      className="fixed right-3 bottom-3 z-30 w-88 max-w-[calc(100vw-1.5rem)] space-y-2"
    >
      {tracked.map((bulk) => (
        <OneBulk key={bulk.id} {...bulk} />
      ))}
    </section>
  );
}

function OneBulk({ env, id }: TrackedBulk) {
  const queries = useQueryClient();
  const { data: bulk, error } = useBulkAction(env, id);
  const isGone = error instanceof ApiError && error.status === 404;
  useEffect(() => {
    if (isGone) untrackBulk(id);
  }, [isGone, id]);
  const change = useOperationChange<BulkAction>({
    path: `/v1/runs/bulk/${id}`,
    env,
    invalidates: 'bulk-action',
    onSuccess: (changed) => queries.setQueryData(['bulk-action', env, id], changed),
  });
  if (!bulk) return null;
  const { status, progress, matched, waiting_because } = bulk;
  const handled = handledBy(bulk);
  return (
    <article
      aria-label={titleOf(bulk)}
      className="space-y-2 rounded-xl border border-line-strong bg-surface p-3 text-sm shadow-xl"
    >
      <header className="flex items-start gap-2">
        <p className="min-w-0 flex-1 font-medium">
          {titleOf(bulk)}
          <Environment name={env} />
        </p>
        {!isOpen(status) && <IconButton icon="close" label="Close" className="-m-1" onClick={() => untrackBulk(id)} />}
      </header>
      {isOpen(status) && (
        <OperationProgress
          label="Progress"
          share={matched.count === 0 ? 0 : handled / Math.max(matched.count, handled)}
          waits={waiting_because && waitingText(waiting_because)}
        />
      )}
      <p role="status">
        {runs(progress.done)} {DONE_NAMES[bulk.action]}
        {status === 'paused' && ', paused'}
        {status === 'cancelled' && ', then cancelled'}
      </p>
      <Skipped bulk={bulk} />
      {matched.not_listed > 0 && <p className="text-warn">{notListedText(matched.not_listed)}</p>}
      {handled > 0 && <BulkResults env={env} id={id} handled={handled} />}
      <div className="flex flex-wrap gap-2">
        <PauseButton status={status} busy={change.isPending} onChange={(verb) => change.mutate({ verb })} />
        {isOpen(status) && (
          <Button variant="danger" busy={change.isPending} onClick={() => change.mutate({ verb: 'cancel' })}>
            Stop here
          </Button>
        )}
        {!isOpen(status) && bulk.action === 'retry' && progress.done > 0 && <Undo env={env} id={id} />}
      </div>
    </article>
  );
}

function Undo({ env, id }: TrackedBulk) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button icon="replay" onClick={() => setOpen(true)}>
        Undo…
      </Button>
      {open && <BulkDialog env={env} action="cancel" filter={{ started_by: id }} onClose={() => setOpen(false)} />}
    </>
  );
}

function Skipped({ bulk: { progress } }: { bulk: BulkAction }) {
  const skipped = Object.entries(progress.skipped);
  if (skipped.length === 0) return null;
  return (
    <ul aria-label="Skipped" className="text-muted">
      {skipped.map(([reason, count]) => (
        <li key={reason}>
          {count.toLocaleString()} skipped: {SKIP_TEXTS[reason as keyof typeof SKIP_TEXTS] ?? reason}
        </li>
      ))}
    </ul>
  );
}

/** Set if it is not the selected environment. */
function Environment({ name }: { name: string }) {
  return useEnv() === name ? null : <span className="font-normal text-muted"> in {name}</span>;
}

function handledBy({ progress }: BulkAction): number {
  return progress.done + totalOf(progress.skipped);
}

function titleOf({ action, from, matched, filter }: BulkAction): string {
  const name = filter.started_by === null ? ACTION_NAMES[action] : 'Undo the re-run';
  const where = from === 'failed_step' ? ', from the failed step' : '';
  return `${name}: ${matched.is_exact ? '' : 'more than '}${runs(matched.count)}${where}`;
}

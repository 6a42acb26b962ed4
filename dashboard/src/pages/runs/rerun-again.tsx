import { Link } from '@tanstack/react-router';
import type { Run } from '../../api/types.ts';
import { hasEnded } from '../../features/runs/run.ts';
import { Id } from '../../ui/code-block.tsx';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { Time } from '../../ui/time.tsx';

const RESULTS = { Completed: 'has completed', Failed: 'has failed', Cancelled: 'was cancelled' };

/** @param later the run that did the work again */
export function RerunAgain({ later, onClose, onRerun }: { later: Run; onClose(): void; onRerun(): Promise<unknown> }) {
  const result = hasEnded(later) ? RESULTS[later.status as keyof typeof RESULTS] : 'is still active';
  return (
    <ConfirmDialog
      open
      title="Re-run once more?"
      variant="primary"
      icon="retry"
      confirmLabel="Re-run again"
      onClose={onClose}
      onConfirm={onRerun}
    >
      It was <RerunNote later={later} />, which {result}.
    </ConfirmDialog>
  );
}

/** "re-run 5 min ago as 01JX…" */
export function RerunNote({ later: { run_id: id, queued_at } }: { later: Run }) {
  return (
    <>
      re-run <Time at={queued_at} /> as{' '}
      <Link to="/runs/$id" params={{ id }} className="text-accent underline">
        <Id id={id} maxChars={15} />
      </Link>
    </>
  );
}

import { Link } from '@tanstack/react-router';
import type { RunWithHistory } from '../../api/types.ts';
import { ErrorDetails } from '../../features/errors/error-details.tsx';
import { useErrorGroup } from '../../features/errors/queries.ts';
import { hasEnded } from '../../features/runs/run.ts';
import { formatCount } from '../../lib/format.ts';
import { Card } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { rowsOf } from './timeline-rows.ts';

/** Also a row whose next attempt is due, or is another row. */
const FAILED: ReadonlySet<string> = new Set(['Failed', 'Retrying', 'Retried']);

interface ErrorCardProps {
  run: RunWithHistory;
  /** undefined: unknown. */
  maxAttempts: number | undefined;
}

/** The failure, its cause, and the number of other runs that failed for the same reason. */
export function ErrorCard({ run, maxAttempts }: ErrorCardProps) {
  const { error } = run;
  if (!error) return null;
  return (
    <Card title={hasEnded(run) ? 'Error' : 'Last error'}>
      <div className="space-y-3 p-4">
        <FailedPart run={run} maxAttempts={maxAttempts} />
        <ErrorDetails error={error} />
        <SameError run={run} />
      </div>
    </Card>
  );
}

/** The step that failed, or the function, and at which attempt. */
function FailedPart({ run, maxAttempts }: ErrorCardProps) {
  const { failed_step: step } = run;
  const stepId = step?.step_id ?? null;
  const row = rowsOf(run).findLast((one) => one.stepId === stepId && FAILED.has(one.status));
  const attempt = (row?.attempts.at(-1)?.number ?? run.attempt) + 1;
  return (
    <p>
      {step ? (
        <>
          Step <strong className="font-medium">{step.name ?? step.step_id.slice(0, 8)}</strong>
        </>
      ) : (
        'The function'
      )}{' '}
      failed on attempt {attempt}
      {maxAttempts !== undefined && maxAttempts >= attempt && ` of ${maxAttempts}`}
      {row && (
        <>
          {' · '}
          <Link
            to="/runs/$id"
            params={{ id: run.run_id }}
            search={(before: object) => ({ ...before, entry: row.key }) as never}
            resetScroll={false}
            className="text-accent underline"
          >
            Show in timeline
          </Link>
        </>
      )}
    </p>
  );
}

function SameError({ run }: { run: RunWithHistory }) {
  const { data: group } = useErrorGroup(run.fingerprint);
  if (!group) return null;
  const { fingerprint, count, first_seen, state } = group;
  return (
    <p className="text-sm text-muted">
      <Link to="/errors/$fingerprint" params={{ fingerprint }} className="text-accent underline">
        {count === 1 ? '1 run' : `${formatCount(count)} runs`} of this function failed with this error
      </Link>
      {count > 1 && (
        <>
          , first <Time at={first_seen} />
        </>
      )}
      {state === 'resolved' && '; it is resolved'}
    </p>
  );
}

import type { ReactNode } from 'react';
import type { RunWithHistory } from '../../api/types.ts';
import { hasEnded } from '../../features/runs/run.ts';
import { Icon } from '../../ui/icon.tsx';
import { relative, Time, useNow } from '../../ui/time.tsx';
import { LimitStatus } from './limit-status.tsx';

const SHOWN = 3;

/** What a run waits for, and until when. */
export function WaitStatus({ run, maxAttempts }: { run: RunWithHistory; maxAttempts: number | undefined }) {
  if (hasEnded(run)) return null;
  if (run.waiting)
    return (
      <Banner className="bg-warn-soft">
        <LimitStatus waiting={run.waiting} />
      </Banner>
    );
  if (run.next_try_at)
    return (
      <NextAttempt
        at={run.next_try_at}
        attempts={run.run_started_at === null ? 0 : run.attempt + 1}
        maxAttempts={maxAttempts}
      />
    );
  const waiting = run.history.filter(({ status, op }) => status === 'Waiting' && op !== 'StepPlanned');
  if (waiting.length === 0) return null;
  return (
    <Banner className="border border-line bg-surface">
      <ul>
        {waiting.slice(0, SHOWN).map(({ step_id, op, name, until }) => (
          <li key={step_id}>
            {op === 'Sleep' && 'Sleeping'}
            {op === 'WaitForEvent' && (
              <>
                Waiting for event <code className="font-mono text-xs">{name}</code>
              </>
            )}
            {op === 'WaitForSignal' && (
              <>
                Waiting for signal <code className="font-mono text-xs">{name}</code>
              </>
            )}
            {(op === 'Gateway' || op === 'AIGateway') && <>Waiting for the response to the request of {name}</>}
            {op === 'InvokeFunction' && <>Waiting for the function invoked by {name}</>}
            {until && (
              <>
                {op === 'Sleep' ? ', wakes ' : ', times out '}
                <Time at={until} />
              </>
            )}
          </li>
        ))}
        {waiting.length > SHOWN && <li className="text-muted">and {waiting.length - SHOWN} more</li>}
      </ul>
    </Banner>
  );
}

/** @param attempts so far */
function NextAttempt({ at, attempts, maxAttempts }: { at: string; attempts: number; maxAttempts: number | undefined }) {
  const inMs = Date.parse(at) - useNow();
  const label = `Attempt ${attempts + 1}${maxAttempts === undefined ? '' : ` of ${maxAttempts}`}`;
  return (
    <Banner className="bg-warn-soft">
      {label} starts{' '}
      <time dateTime={at} title={at} className="font-medium tabular-nums">
        {inMs > 0 ? relative(inMs) : 'now'}
      </time>
    </Banner>
  );
}

function Banner({ className, children }: { className: string; children: ReactNode }) {
  return (
    <div className={`flex items-start gap-3 rounded-lg px-4 py-3 ${className}`}>
      <Icon name="clock" className="mt-0.5 text-warn" />
      <div className="min-w-0 break-words">{children}</div>
    </div>
  );
}

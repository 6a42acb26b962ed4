import type { ReactNode } from 'react';
import type { RunWithHistory } from '../../api/types.ts';
import { hasEnded } from '../../features/runs/run.ts';
import { Icon } from '../../ui/icon.tsx';
import { relative, Time, useNow } from '../../ui/time.tsx';

const SHOWN = 3;

/** What a run waits for, and until when. Nothing of one that has ended or is being called. */
export function WaitStatus({ run, maxTries }: { run: RunWithHistory; maxTries: number | undefined }) {
  if (hasEnded(run)) return null;
  if (run.next_try_at)
    return (
      <NextTry at={run.next_try_at} tries={run.run_started_at === null ? 0 : run.attempt + 1} maxTries={maxTries} />
    );
  const waiting = run.history.filter(({ status, op }) => status === 'Waiting' && op !== 'StepPlanned');
  if (waiting.length === 0) return null;
  return (
    <Banner look="border border-line bg-surface">
      <ul>
        {waiting.slice(0, SHOWN).map(({ step_id, op, name, until }) => (
          <li key={step_id}>
            {op === 'Sleep' && 'Sleeps'}
            {op === 'WaitForEvent' && (
              <>
                Waits for the event <code className="font-mono text-xs">{name}</code>
              </>
            )}
            {op === 'InvokeFunction' && <>Waits for the run that {name} invoked</>}
            {until && (
              <>
                {op === 'Sleep' ? ', wakes ' : ', gives up '}
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

/** @param tries that there were */
function NextTry({ at, tries, maxTries }: { at: string; tries: number; maxTries: number | undefined }) {
  const inMs = Date.parse(at) - useNow();
  const nth = `Try ${tries + 1}${maxTries === undefined ? '' : ` of ${maxTries}`}`;
  return (
    <Banner look="bg-warn-soft">
      {nth} begins{' '}
      <time dateTime={at} title={at} className="font-medium tabular-nums">
        {inMs > 0 ? relative(inMs) : 'now'}
      </time>
    </Banner>
  );
}

function Banner({ look, children }: { look: string; children: ReactNode }) {
  return (
    <div className={`flex items-start gap-3 rounded-lg px-4 py-3 ${look}`}>
      <Icon name="clock" className="mt-0.5 text-warn" />
      <div className="min-w-0 break-words">{children}</div>
    </div>
  );
}

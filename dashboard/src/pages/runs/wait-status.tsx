import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { RunState, RunWithHistory } from '../../api/types.ts';
import { attemptText } from '../../features/runs/attempts.ts';
import { hasEnded } from '../../features/runs/run.ts';
import { capitalize } from '../../lib/capitalize.ts';
import { Icon } from '../../ui/icon.tsx';
import { absolute, Moment, relative, useNow } from '../../ui/time.tsx';
import { LimitStatus } from './limit-status.tsx';

const SHOWN = 3;

type HistoryEntry = RunWithHistory['history'][number];

/** The waits of a run, and their ends. */
export function WaitStatus({ run }: { run: RunWithHistory }) {
  const { state, waiting, history } = run;
  if (hasEnded(run)) return null;
  const waits = history.filter(({ status, op }) => status === 'Waiting' && op !== 'StepPlanned').sort(byEnd);
  const isWarning = waiting !== null || state.kind === 'retrying' || state.kind === 'paused';
  const first = firstLine(run);
  if (!first && waits.length === 0) return null;
  return (
    <Banner className={isWarning ? 'bg-warn-soft' : 'border border-line bg-surface'}>
      <ul>
        {first && <li>{first}</li>}
        {waits.slice(0, SHOWN).map((entry) => (
          <li key={entry.step_id}>
            <Wait entry={entry} />
          </li>
        ))}
        {waits.length > SHOWN && <li className="text-muted">and {waits.length - SHOWN} more</li>}
      </ul>
    </Banner>
  );
}

/** The first line: a wait that the history does not show. */
function firstLine({ waiting, state }: RunWithHistory): ReactNode {
  if (state.kind === 'paused') return <Paused state={state} />;
  if (waiting) return <LimitStatus waiting={waiting} />;
  if (state.kind === 'retrying') return <NextAttempt state={state} />;
  if (state.kind === 'queued' && state.until)
    return (
      <>
        Starts <Moment at={state.until} />
      </>
    );
  return null;
}

function byEnd(one: HistoryEntry, other: HistoryEntry): number {
  return endOf(one) - endOf(other);
}

function endOf({ until }: HistoryEntry): number {
  return until === null ? Number.MAX_SAFE_INTEGER : Date.parse(until);
}

function Wait({ entry }: { entry: HistoryEntry }) {
  const { op, name, waits_for, until, if: expression, invoked } = entry;
  const isStep = waits_for !== null && waits_for !== name;
  return (
    <>
      {op === 'Sleep' && 'Sleeping'}
      {(op === 'WaitForEvent' || op === 'WaitForSignal') && (
        <>
          Waiting for {op === 'WaitForEvent' ? 'event' : 'signal'} <Code>{waits_for ?? name}</Code>
          {expression && (
            <>
              {' '}
              if <Code>{expression}</Code>
            </>
          )}
        </>
      )}
      {(op === 'Gateway' || op === 'AIGateway') && <>Requesting {name}: waiting for the response</>}
      {op === 'InvokeFunction' && (
        <>
          Invoking <Code>{invoked?.function_id ?? name}</Code>
          {invoked && (
            <>
              {' in '}
              <Link to="/runs/$id" params={{ id: invoked.run_id }} className="text-accent underline">
                its run
              </Link>
            </>
          )}
        </>
      )}
      {until && (
        <>
          {' until '}
          <Moment at={until} />
        </>
      )}
      {(isStep || op === 'Sleep') && <span className="text-muted"> · {name}</span>}
    </>
  );
}

const PAUSE_REASONS: Record<NonNullable<RunState['reason']>, string> = {
  exhausted: 'no attempt was left',
  version_gone: 'the version of its app cannot be reached',
};

function Paused({ state: { reason, since, step } }: { state: RunState }) {
  return (
    <>
      Paused
      {since && (
        <>
          {' since '}
          <Moment at={since} />
        </>
      )}
      {reason && `: ${PAUSE_REASONS[reason]}`}
      {step && (
        <>
          {' of step '}
          <Code>{step.name}</Code>
        </>
      )}
    </>
  );
}

function NextAttempt({ state: { attempt, max_attempts, until, step } }: { state: RunState }) {
  const now = useNow();
  const inMs = until === undefined ? 0 : Date.parse(until) - now;
  return (
    <>
      {capitalize(attemptText(attempt, max_attempts))}
      {step && (
        <>
          {' of step '}
          <Code>{step.name}</Code>
        </>
      )}
      {' starts '}
      <time
        dateTime={until}
        title={until === undefined ? undefined : absolute(new Date(until))}
        className="font-medium tabular-nums"
      >
        {inMs > 0 ? relative(inMs) : 'now'}
      </time>
    </>
  );
}

function Code({ children }: { children: ReactNode }) {
  return <code className="font-mono text-xs">{children}</code>;
}

function Banner({ className, children }: { className: string; children: ReactNode }) {
  return (
    <div className={`flex items-start gap-3 rounded-lg px-4 py-3 ${className}`}>
      <Icon name="clock" className="mt-0.5 text-warn" />
      <div className="min-w-0 break-words">{children}</div>
    </div>
  );
}

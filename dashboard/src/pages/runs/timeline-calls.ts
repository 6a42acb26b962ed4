/** Rows of the calls of a function itself, which lead from one step to the next. A call and its retries are one row. */
import type { HistoryEntry, RunWithHistory } from '../../api/types.ts';
import { hasEnded } from '../../features/runs/run.ts';
import { attemptOf, queuedAfterEachOther } from './timeline-attempts.ts';
import { msOf, PLAIN, type RowStatus, type TimelineAttempt, type TimelineRowData } from './timeline-row-data.ts';

type Call = [index: number, entry: HistoryEntry];

/** Each attempt of a run without steps is a row.
 *  @param calls with their places in the history
 *  @param steps by their IDs */
export function callRows(
  calls: readonly Call[],
  run: RunWithHistory,
  steps: ReadonlyMap<string, unknown>,
): TimelineRowData[] {
  if (steps.size > 0) return sequencesOf(calls).map((sequence) => callRow(sequence, run));
  const attempts = queuedAfterEachOther(calls.flatMap(([, entry]) => attemptOf(entry) ?? []));
  const isRetried = (i: number) => attempts[i]?.status === 'Failed' && (i < attempts.length - 1 || !hasEnded(run));
  return attempts.map((attempt, i) => ({
    ...rowOf([attempt], `call:${calls[i]?.[0]}`, isRetried(i) ? 'Retried' : attempt.status),
    name: `Attempt ${attempt.number + 1}`,
  }));
}

/** Attempts of one call have consecutive numbers. */
function sequencesOf(calls: readonly Call[]): Call[][] {
  const sequences: Call[][] = [];
  for (const call of calls) {
    const last = sequences.at(-1);
    const previous = last?.at(-1)?.[1];
    const follows = previous?.status === 'Failed' && call[1].attempt === (previous.attempt ?? 0) + 1;
    if (last && follows) last.push(call);
    else sequences.push([call]);
  }
  return sequences;
}

function callRow(sequence: readonly Call[], run: RunWithHistory): TimelineRowData {
  const [index, last] = sequence.at(-1) as Call;
  const attempts = queuedAfterEachOther(sequence.flatMap(([, entry]) => attemptOf(entry) ?? []));
  const status = last.status === 'Failed' ? failedStatus(index, run) : 'Completed';
  const row = rowOf(attempts, `call:${sequence[0]?.[0]}`, status);
  const isCall =
    status !== 'Retrying' && sequence.every(([, entry]) => entry.status !== 'Failed' || isOfStep(entry, run));
  return {
    ...row,
    isCall,
    name: status === 'Completed' && isCall ? 'Call' : 'Function',
    ...(status === 'Retrying' && retry(run)),
  };
}

/** A step failed, and the function failed with the same error: the step's row shows it. */
function isOfStep({ error }: HistoryEntry, { history }: RunWithHistory): boolean {
  return history.some(
    (entry) =>
      entry.kind === 'step' &&
      entry.status === 'Failed' &&
      entry.error?.name === error?.name &&
      entry.error?.message === error?.message,
  );
}

function retry(run: RunWithHistory) {
  return {
    endedMs: null,
    untilMs: msOf(run.next_try_at),
    ...(run.next_try_at === null && { status: 'Running' as const }),
  };
}

/** A call that failed is the end of the run, or is repeated: as the last entry of the history, it is not yet. */
function failedStatus(index: number, run: RunWithHistory): RowStatus {
  if (run.history.slice(index + 1).some(({ status }) => status === 'Completed' || status === 'Failed'))
    return 'Retried';
  return hasEnded(run) ? 'Failed' : 'Retrying';
}

/** @param attempts not empty */
function rowOf(attempts: TimelineAttempt[], key: string, status: RowStatus): TimelineRowData {
  const [first, last] = [attempts[0] as TimelineAttempt, attempts.at(-1) as TimelineAttempt];
  return {
    ...PLAIN,
    key,
    name: 'Function',
    kind: 'called',
    status,
    stepId: null,
    attempts,
    queuedMs: first.queuedMs,
    startedMs: first.startedMs,
    endedMs: last.endedMs,
    error: last.error,
  };
}

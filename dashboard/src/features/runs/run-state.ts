/** Where a run is, in words. */
import type { RunState } from '../../api/types.ts';
import { formatCount, formatOrdinal } from '../../lib/format.ts';
import { relative } from '../../ui/time.tsx';
import { attemptText } from './attempts.ts';
import type { ListedRun } from './run.ts';

/** Absent where the run comes from a response of a moment ago, or of an earlier version. */
export type RunInState = Pick<ListedRun, 'status'> & { state?: RunState | undefined };

export const STATE_LABELS: Record<RunState['kind'], string> = {
  queued: 'Queued',
  held: 'Queued',
  running: 'Running',
  retrying: 'Retrying',
  sleeping: 'Sleeping',
  waiting_for_event: 'Waiting',
  waiting_for_signal: 'Waiting',
  invoking: 'Invoking',
  requesting: 'Requesting',
  paused: 'Paused',
  completed: 'Completed',
  failed: 'Failed',
  cancelled: 'Cancelled',
};

/** A live update may have told of a status that is newer than the state. */
export function stateOf({ status, state }: RunInState): RunState {
  const byStatus = status.toLowerCase() as RunState['kind'];
  const isOutdated = status === 'Running' ? state?.kind === 'queued' : status !== 'Queued' && state?.kind !== byStatus;
  return state && !isOutdated ? state : { kind: byStatus };
}

/** Details beside the label; undefined: none. */
export function stateDetail(state: RunState, nowMs: number): string | undefined {
  const parts = detailsOf(state, nowMs);
  if (state.others && state.kind !== 'running') parts.push(`and ${formatCount(state.others)} more`);
  return parts.length === 0 ? undefined : parts.join(', ');
}

function detailsOf(state: RunState, nowMs: number): string[] {
  const { kind, until, name, step, function_id, limit, position } = state;
  const time = until === undefined ? undefined : relative(Math.max(0, Date.parse(until) - nowMs));
  switch (kind) {
    case 'queued':
      return time === undefined ? [] : [`starts ${time}`];
    case 'held': {
      const inLine = position === undefined ? [] : [`${formatOrdinal(position)} in line`];
      return limit ? [...inLine, limitText(limit)] : inLine;
    }
    case 'retrying':
      return [...(time === undefined ? [] : [time]), attemptText(state.attempt, state.max_attempts)];
    case 'sleeping':
      return time === undefined ? [] : [`wakes ${time}`];
    case 'waiting_for_event':
    case 'waiting_for_signal':
      return [`for ${name ?? step?.name ?? 'it'}`, ...(time === undefined ? [] : [`times out ${time}`])];
    case 'invoking':
      return [function_id ?? step?.name ?? '', ...(time === undefined ? [] : [`times out ${time}`])].filter(Boolean);
    case 'requesting':
    case 'paused':
      return step ? [step.name] : [];
    default:
      return [];
  }
}

type Limit = NonNullable<RunState['limit']>;

/** "concurrency 5 of key c_1" */
function limitText({ kind, limit, key }: Limit): string {
  const ofKey = key === null ? '' : ` of key ${key}`;
  switch (kind) {
    case 'concurrency':
      return `concurrency ${formatCount(limit)}${ofKey}`;
    case 'run_concurrency':
      return `${formatCount(limit)} ${limit === 1 ? 'run' : 'runs'} at the same time${ofKey}`;
    case 'throttle':
      return `throttle${ofKey}`;
    case 'capacity':
      return 'until a worker is free';
    case 'paused':
      return 'function is paused';
  }
}

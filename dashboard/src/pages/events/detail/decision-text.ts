/** Why a function did or did not run, as one sentence. */
import type { EventDecision } from '../../../api/types.ts';
import { stringifyExact } from '../../../lib/exact-json.ts';

const PENDING = 'The event is being ingested.';
const WAITING: Record<string, string> = {
  in_lane: 'The event waits for its turn in its lane.',
  parked: 'The event waits in a lane that a failed run stops.',
};
const UNKNOWN = 'No run and no reason is stored for this function.';

export function sentenceOf({ outcome, reason, run_ids, expressions, until }: EventDecision): string {
  if (outcome === 'pending') return WAITING[reason ?? ''] ?? PENDING;
  if (outcome === 'unknown') return UNKNOWN;
  if (outcome === 'ran')
    return run_ids.length === 1 ? 'The event started a run.' : `The event started ${run_ids.length} runs.`;
  switch (reason) {
    case 'expression_false':
      return expressions?.length === 1
        ? 'The expression of its trigger is false.'
        : 'The expressions of its triggers are false.';
    case 'not_evaluated':
      return expressions
        ? 'The expression of its trigger cannot be evaluated on this event.'
        : 'The expression of its trigger was stopped because it costs too much.';
    case 'paused':
      return 'The function was paused.';
    case 'not_registered':
      return 'The function did not listen to this event when it came.';
    case 'rate_limited':
      return until === null
        ? 'The rate limit was reached.'
        : `The rate limit was reached until ${new Date(until).toLocaleString()}.`;
    case 'idempotent':
      return 'An earlier run has the same idempotency key.';
    case 'singleton':
      return 'Another run of the singleton was active.';
    case 'debounced':
      return run_ids.length > 0 ? 'Debounced: a later event has the run.' : 'Debounced: the run has not started yet.';
    case 'batched':
      return run_ids.length > 0 ? 'The event is part of a batch.' : 'The event waits for its batch to be complete.';
    case 'superseded':
      return 'Stale: superseded by a later event of its lane, which has this run.';
    case 'environment_archived':
      return 'The environment was archived.';
    default:
      return UNKNOWN;
  }
}

type Read = NonNullable<EventDecision['expressions']>[number]['reads'][number];

/** `event.data.total is 4` */
export function readText({ path, value, shortened }: Read): string {
  if (shortened && value === null) return `${path} is too long to show`;
  return `${path} is ${stringifyExact(value)}`;
}

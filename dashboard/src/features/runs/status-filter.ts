/** The filter of runs by status and state, as one choice. */
import type { Query } from '../../api/client.ts';

const CHOICES = {
  Queued: { state: 'queued,held' },
  Running: { state: 'running,requesting' },
  Retrying: { state: 'retrying' },
  Sleeping: { state: 'sleeping' },
  Waiting: { state: 'waiting_for_event,waiting_for_signal' },
  Invoking: { state: 'invoking' },
  Completed: { status: 'Completed' },
  Failed: { status: 'Failed' },
  Cancelled: { status: 'Cancelled' },
} as const satisfies Record<string, { state: string } | { status: string }>;

export const STATUS_CHOICES = Object.keys(CHOICES) as (keyof typeof CHOICES)[];

/** Query parameters of the API for a choice; undefined: all runs. */
export function statusQuery(choice: string | undefined): Query {
  return choice !== undefined && Object.hasOwn(CHOICES, choice) ? CHOICES[choice as keyof typeof CHOICES] : {};
}

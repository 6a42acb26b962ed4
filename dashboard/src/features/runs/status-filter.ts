/** The filter of runs by status and state, as one choice. */
import type { Query } from '../../api/client.ts';
import { capitalize } from '../../lib/capitalize.ts';

/** Statuses have the API's names. States begin in lower case: what acts on all runs of a filter knows statuses only. */
const CHOICES = {
  Queued: { status: 'Queued' },
  running: { state: 'running,requesting' },
  retrying: { state: 'retrying' },
  sleeping: { state: 'sleeping' },
  waiting: { state: 'waiting_for_event,waiting_for_signal' },
  invoking: { state: 'invoking' },
  held: { state: 'held' },
  paused: { state: 'paused' },
  Completed: { status: 'Completed' },
  Failed: { status: 'Failed' },
  Cancelled: { status: 'Cancelled' },
  /** Whatever they do: of links from elsewhere, without a tab. */
  Running: { status: 'Running' },
} as const satisfies Record<string, { state: string } | { status: string }>;

type Choice = keyof typeof CHOICES;

/** All that the URL may have. */
export const STATUS_CHOICES = Object.keys(CHOICES) as Choice[];

export const STATUS_TABS = STATUS_CHOICES.filter((choice) => choice !== 'Running').map(
  (choice) => [choice, capitalize(choice)] as const,
);

/** Query parameters of the API for a choice; undefined: all runs. */
export function statusQuery(choice: string | undefined): Query {
  return choice !== undefined && Object.hasOwn(CHOICES, choice) ? CHOICES[choice as Choice] : {};
}

/** The states of a choice; undefined: it is a status, or there is none. */
export function statesOf(choice: string | undefined): readonly string[] | undefined {
  const { state } = statusQuery(choice);
  return typeof state === 'string' ? state.split(',') : undefined;
}

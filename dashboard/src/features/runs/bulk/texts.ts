/** Actions on many runs, in words. */
import type { BulkAction, BulkDryRun } from '../../../api/types.ts';
import { absolute } from '../../../ui/time.tsx';

export const ACTION_NAMES: Record<BulkAction['action'], string> = {
  cancel: 'Cancel',
  retry: 'Re-run',
  retry_now: 'Retry now',
  move: 'Move to another version',
  resume: 'Resume',
};

/** "Cancelled 3 runs". */
export const DONE_NAMES: Record<BulkAction['action'], string> = {
  cancel: 'cancelled',
  retry: 're-run',
  retry_now: 'retried now',
  move: 'moved to another version',
  resume: 'resumed',
};

type Skips = BulkAction['progress']['skipped'];

export const SKIP_TEXTS: Record<keyof Skips & string, string> = {
  already_rerun: 'already re-run',
  run_active: 'still active, or a re-run of it is',
  run_ended: 'ended before',
  run_gone: 'no longer stored',
  run_not_waiting: 'not waiting for a retry',
  run_not_paused: 'not paused',
  no_failed_step: 'no step of it failed: re-run it from the start',
  function_archived: 'its app no longer registers the function',
  event_gone: 'its event is no longer stored',
  version_unknown: 'its app has no such version, or that lacks the function',
};

const FILTER_NAMES: Record<string, string> = {
  state: 'State',
  function_id: 'Function',
  app: 'App',
  exclude: 'Without',
  event_id: 'Event',
  id_prefix: 'IDs that begin with',
  error: 'Error text',
  app_version: 'Version of the app',
  search: 'Condition',
  queued_after: 'Queued from',
};

/** The filter as the service understood it: pairs of a name and a value. Filters that this version does not know have their own names. */
export function filterLines({ status, ...filter }: BulkDryRun['filter']): [name: string, value: string][] {
  const { run_count, started_by, queued_before: _, ...rest } = filter;
  if (run_count !== null) return [['Runs', 'the selected ones']];
  if (started_by !== null) return [['Runs', 'those that the re-run started and that have not ended']];
  const lines = Object.entries(rest).flatMap(([name, value]): [string, string][] => {
    if (value === null) return [];
    return [[FILTER_NAMES[name] ?? name.replaceAll('_', ' '), valueText(name, value)]];
  });
  return [['Status', status.join(', ')], ...lines];
}

function valueText(name: string, value: string | readonly string[]): string {
  if (typeof value !== 'string') return value.map((one) => one.replaceAll('_', ' ')).join(', ');
  return name.startsWith('queued_') ? absolute(new Date(value)) : value;
}

/** About runs that a re-run started and that its undo leaves alone. */
export function notListedText(count: number): string {
  return `The re-run started ${runs(count)} more, whose IDs are not kept, and which stay as they are. Select them in the list of runs, by function and time.`;
}

export function runs(count: number): string {
  return `${count.toLocaleString()} ${count === 1 ? 'run' : 'runs'}`;
}

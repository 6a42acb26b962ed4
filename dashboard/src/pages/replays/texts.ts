/** Texts for the API's codes of replays. */
import type { Replay } from '../../api/types.ts';
import { waitingText } from '../../ui/bulk-operations/texts.ts';

export const FORMER_STATUSES = [
  ['Failed', 'Failed'],
  ['none', 'No run'],
  ['Cancelled', 'Cancelled'],
  ['Completed', 'Completed'],
] as const;
export type FormerStatus = (typeof FORMER_STATUSES)[number][0];

export function formerStatusText(status: string): string {
  return FORMER_STATUSES.find(([id]) => id === status)?.[1] ?? status;
}

const REASONS: Record<string, string> = {
  function_archived: 'its app no longer registers the function',
  function_paused: 'the function is paused',
  not_matching: 'its triggers do not match the event now',
  not_evaluated: 'evaluating its expression cost too much',
  run_active: 'a run of the function on the event is active',
  already_replayed: 'its batch has been replayed',
  event_gone: 'the event is no longer stored',
  internal: 'an internal error, which the worker logs',
};

export function reasonText(reason: string): string {
  return REASONS[reason] ?? reason;
}

type Selected = Pick<Replay, 'filter' | 'functions' | 'statuses'>;

/** The events that it looks at: `order/* where data.total > 100`. */
export function filterText({
  filter: { name, source, search, id_prefix, id_count },
}: Pick<Selected, 'filter'>): string {
  if (id_count !== null) return id_count === 1 ? 'One event' : `${id_count} selected events`;
  const parts = [
    name ?? 'All events',
    source && `from ${source}`,
    id_prefix && `with IDs ${id_prefix}…`,
    search && `where ${search}`,
  ];
  return parts.filter(Boolean).join(' ');
}

export function functionsText({ functions }: Pick<Selected, 'functions'>): string {
  return functions?.join(', ') ?? 'All that match now';
}

/** From 0 to 1, by the time of the events. */
export function shareDone(replay: Replay): number {
  if (replay.status === 'done') return 1;
  const [after, before, at] = [replay.received_after, replay.received_before, replay.progress.position].map(Date.parse);
  return before === after ? 1 : ((at as number) - (after as number)) / ((before as number) - (after as number));
}

/** undefined: nothing. */
export function waitsFor({ waiting_because: reason }: Replay): string | undefined {
  return reason === null ? undefined : waitingText(reason);
}

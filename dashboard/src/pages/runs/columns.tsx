import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { ListedFunction } from '../../api/types.ts';
import { useFunctions } from '../../features/functions/queries.ts';
import { EventGist } from '../../features/lists/event-gist.tsx';
import type { ListedRun } from '../../features/runs/run.ts';
import { RunDuration } from '../../features/runs/run-duration.tsx';
import { STATE_LABELS, stateDetail, stateOf } from '../../features/runs/run-state.ts';
import { RunStateBadge } from '../../features/runs/run-state-badge.tsx';
import { useIsWideScreen } from '../../lib/use-wide-screen.ts';
import { CopyButton, Id } from '../../ui/code-block.tsx';
import { fittingWidth } from '../../ui/column-width.ts';
import type { Column } from '../../ui/data-table.tsx';
import { Time } from '../../ui/time.tsx';
import { useRowActions } from './row-actions.tsx';

/** Characters of an error for which the column has room. */
const ERROR_SHOWN = 30;

type FunctionsById = ReadonlyMap<string, ListedFunction>;

function columnsOf(functions: FunctionsById, compact: boolean, wide: boolean): Column<ListedRun>[] {
  return [
    {
      id: 'status',
      header: 'Status',
      width: fittingWidth({ header: 'Status', text: stateText, extraRem: 2, maxRem: 12.5 }),
      isFixed: true,
      hideOnMobile: true,
      cell: (run) => <RunStateBadge run={run} />,
    },
    {
      id: 'function',
      header: 'Function',
      width: wide
        ? fittingWidth({ header: 'Function', text: (run) => nameText(run, functions), extraRem: 1, maxRem: 26 })
        : 'minmax(0, 1fr)',
      isFixed: true,
      cell: (run) => <Name run={run} fn={functions.get(run.function_id)} compact={compact} wide={wide} />,
    },
    {
      id: 'event',
      header: 'Event',
      width: 'minmax(9rem, 1fr)',
      hideOnMobile: true,
      cell: (run) => <Event run={run} />,
    },
    {
      id: 'run-id',
      header: 'Run ID',
      width: '16rem',
      hideOnMobile: true,
      isOptional: true,
      cell: ({ run_id: id }) => <CopyableId id={id} />,
    },
    {
      id: 'event-id',
      header: 'Event ID',
      width: '16rem',
      hideOnMobile: true,
      isOptional: true,
      cell: ({ event_id: id }) => <CopyableId id={id} />,
    },
    {
      id: 'started',
      header: 'Started',
      width: '6rem',
      align: 'right',
      hideOnMobile: true,
      isOptional: true,
      cell: ({ run_started_at }) => <Muted at={run_started_at} />,
    },
    {
      id: 'ended',
      header: 'Ended',
      width: '6rem',
      align: 'right',
      hideOnMobile: true,
      isOptional: true,
      cell: ({ ended_at }) => <Muted at={ended_at} />,
    },
    {
      id: 'duration',
      header: 'Duration',
      width: '6.5rem',
      align: 'right',
      hideOnMobile: true,
      cell: (run) => <RunDuration run={run} />,
    },
    {
      id: 'queued',
      header: 'Queued',
      width: '5.5rem',
      align: 'right',
      cell: ({ queued_at }) => <Muted at={queued_at} />,
    },
  ];
}

interface NameProps {
  run: ListedRun;
  /** undefined: the list of functions is not loaded, or does not have it. */
  fn: ListedFunction | undefined;
  compact: boolean;
  wide: boolean;
}

/** The function and its app; on a phone the whole name, above the state of the run. */
function Name({ run, fn, compact, wide }: NameProps) {
  const { run_id: id, function_id, replay_id, error } = run;
  const isOneLine = compact && wide;
  const link = (
    <Link
      to="/runs/$id"
      params={{ id }}
      title={`${function_id}\n${id}`}
      className={`font-medium hover:underline ${wide ? 'truncate' : 'break-words'} ${isOneLine ? 'min-w-0' : 'block'}`}
    >
      {fn?.name ?? function_id}
    </Link>
  );
  const app = fn && fn.destination === null && (
    <span className="max-w-32 shrink-0 truncate text-xs text-muted">{fn.app}</span>
  );
  const note = (replay_id || error) && (
    <span
      className={`truncate text-xs text-muted ${isOneLine ? 'min-w-0 flex-1' : 'block'}`}
      title={error ?? undefined}
    >
      {replay_id && <span title="Started by a replay">{error ? 'replayed · ' : 'replayed'}</span>}
      {error}
    </span>
  );
  if (isOneLine) {
    return (
      <span className="flex min-w-0 items-baseline gap-2 overflow-hidden">
        {link}
        {app}
        {note}
      </span>
    );
  }
  return (
    <>
      {link}
      <span className="flex min-w-0 flex-wrap items-baseline gap-x-2">
        {app}
        {!wide && <RunStateBadge run={run} />}
      </span>
      {note}
    </>
  );
}

/** What the columns show, to be measured. */
function nameText({ function_id, error }: ListedRun, functions: FunctionsById): string {
  const { name = function_id, app = '' } = functions.get(function_id) ?? {};
  return `${name} ${app} ${error?.slice(0, ERROR_SHOWN) ?? ''}`;
}

function stateText(run: ListedRun): string {
  const state = stateOf(run);
  return `${STATE_LABELS[state.kind]} ${stateDetail(state, Date.now()) ?? ''}`;
}

function Event({ run: { event_id: id, event_name, event_gist } }: { run: ListedRun }) {
  return (
    <Link
      to="/events/$id"
      params={{ id }}
      title={id}
      className="block min-w-0 text-muted hover:text-accent hover:underline"
    >
      {event_name === undefined ? <Id id={id} maxChars={15} /> : <EventGist name={event_name} gist={event_gist} />}
    </Link>
  );
}

function CopyableId({ id }: { id: string }) {
  return (
    <span className="flex items-center gap-1">
      <Id id={id} />
      <span className="-my-2">
        <CopyButton text={id} label={`Copy ${id}`} />
      </span>
    </span>
  );
}

function Muted({ at }: { at: string | null }) {
  return (
    <span className="text-muted">
      <Time at={at} />
    </span>
  );
}

/** @param canWrite without it there are no buttons
 *  @returns the columns, and the confirmation dialog to render next to the table */
export function useRunColumns(onDone: () => void, { canWrite, compact }: { canWrite: boolean; compact: boolean }) {
  const { functions } = useFunctions();
  const { column, dialog } = useRowActions(onDone);
  const wide = useIsWideScreen();
  const byId = useMemo(() => new Map(functions?.map((fn) => [fn.id, fn])), [functions]);
  const columns = useMemo(
    () => [...columnsOf(byId, compact, wide), ...(canWrite ? [column] : [])],
    [byId, compact, wide, canWrite, column],
  );
  return { columns, dialog };
}

import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { ListedFunction } from '../../api/types.ts';
import { useFunctions } from '../../features/functions/queries.ts';
import { EventGist } from '../../features/lists/event-gist.tsx';
import type { ListedRun } from '../../features/runs/run.ts';
import { RunDuration } from '../../features/runs/run-duration.tsx';
import { RunStateBadge } from '../../features/runs/run-state-badge.tsx';
import { CopyButton, Id } from '../../ui/code-block.tsx';
import type { Column } from '../../ui/data-table.tsx';
import { Time } from '../../ui/time.tsx';
import { useRowActions } from './row-actions.tsx';

type FunctionsById = ReadonlyMap<string, ListedFunction>;

function columnsOf(functions: FunctionsById, compact: boolean): Column<ListedRun>[] {
  return [
    {
      id: 'status',
      header: 'Status',
      width: 'min(16rem, 34vw)',
      isFixed: true,
      cell: (run) => <RunStateBadge run={run} />,
    },
    {
      id: 'function',
      header: 'Function',
      width: 'minmax(0, 1.2fr)',
      isFixed: true,
      cell: (run) => <Name run={run} name={functions.get(run.function_id)?.name} compact={compact} />,
    },
    { id: 'event', header: 'Event', width: 'minmax(0, 1.6fr)', hideOnMobile: true, cell: (run) => <Event run={run} /> },
    {
      id: 'app',
      header: 'App',
      width: 'minmax(0, 8rem)',
      hideOnMobile: true,
      isOptional: true,
      cell: ({ function_id: id }) => <span className="block truncate text-muted">{functions.get(id)?.app ?? '–'}</span>,
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
      width: '6rem',
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

/** @param name of the function, where the list of functions is loaded and has it */
function Name({ run, name, compact }: { run: ListedRun; name: string | undefined; compact: boolean }) {
  const { run_id: id, function_id, replay_id, error } = run;
  const link = (
    <Link
      to="/runs/$id"
      params={{ id }}
      title={`${function_id}\n${id}`}
      className={`truncate font-medium hover:underline ${compact ? 'max-w-full shrink-0' : 'block'}`}
    >
      {name ?? function_id}
    </Link>
  );
  const note = (replay_id || error) && (
    <span className={`truncate text-xs text-muted ${compact ? 'min-w-0' : 'block'}`} title={error ?? undefined}>
      {replay_id && <span title="Started by a replay">{error ? 'replayed · ' : 'replayed'}</span>}
      {error}
    </span>
  );
  return compact ? (
    <span className="flex min-w-0 items-baseline gap-2">
      {link}
      {note}
    </span>
  ) : (
    <>
      {link}
      {note}
    </>
  );
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
  const byId = useMemo(() => new Map(functions?.map((fn) => [fn.id, fn])), [functions]);
  const columns = useMemo(
    () => [...columnsOf(byId, compact), ...(canWrite ? [column] : [])],
    [byId, compact, canWrite, column],
  );
  return { columns, dialog };
}

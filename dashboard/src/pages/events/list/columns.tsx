import { Link } from '@tanstack/react-router';
import type { ListedFunction, RunSummary, Webhook } from '../../../api/types.ts';
import { CopyButton, Id } from '../../../ui/code-block.tsx';
import { fittingWidth } from '../../../ui/column-width.ts';
import type { Column } from '../../../ui/data-table.tsx';
import { RunStatusBadge } from '../../../ui/status-badge.tsx';
import { Time } from '../../../ui/time.tsx';
import { type EventKeyNames, Source, sourceLabel } from '../event-source.tsx';
import type { EventRow } from './event-pages.ts';

/** Names of IDs. */
interface Names {
  webhooks: readonly Webhook[];
  keys: EventKeyNames;
  functions: ReadonlyMap<string, Pick<ListedFunction, 'name' | 'app' | 'destination'>>;
}

export function columnsOf({ webhooks, keys, functions }: Names, compact: boolean, wide: boolean): Column<EventRow>[] {
  return [
    {
      id: 'event',
      header: 'Event',
      width: wide
        ? fittingWidth({ header: 'Event', text: ({ name, gist = '' }) => `${name} ${gist}`, extraRem: 1, maxRem: 32 })
        : 'minmax(0, 1fr)',
      isFixed: true,
      cell: (row) => <Event row={row} functions={functions} compact={compact} wide={wide} />,
    },
    {
      id: 'event-id',
      header: 'Event ID',
      width: '16rem',
      hideOnMobile: true,
      isOptional: true,
      cell: ({ internal_id: id }) => (
        <span className="flex items-center gap-1">
          <Id id={id} />
          <span className="-my-2">
            <CopyButton text={id} label={`Copy ${id}`} />
          </span>
        </span>
      ),
    },
    {
      id: 'runs',
      header: 'Runs',
      width: 'minmax(16rem, 1fr)',
      hideOnMobile: true,
      cell: ({ runs }) => <Runs runs={runs} functions={functions} compact={compact} wide={wide} />,
    },
    {
      id: 'source',
      header: 'Source',
      width: fittingWidth({
        header: 'Source',
        text: ({ source }) => sourceLabel({ source, webhooks, keys }),
        maxRem: 9,
      }),
      hideOnMobile: true,
      cell: ({ source }) => (
        <span className="block truncate text-sm" title={source}>
          <Source source={source} webhooks={webhooks} keys={keys} />
        </span>
      ),
    },
    {
      id: 'received',
      header: 'Received',
      width: '5.5rem',
      align: 'right',
      cell: ({ received_at }) => (
        <span className="text-sm text-muted">
          <Time at={received_at} />
        </span>
      ),
    },
  ];
}

interface CellProps {
  functions: Names['functions'];
  compact: boolean;
  wide: boolean;
}

function Event({ row, functions, compact, wide }: CellProps & { row: EventRow }) {
  const { internal_id: id, name, gist, duplicates, runs } = row;
  const link = (
    <Link
      to="/events/$id"
      params={{ id }}
      title={`${name}\n${id}`}
      className={`font-medium hover:underline ${wide ? 'truncate' : 'break-all'} ${compact && wide ? 'max-w-full shrink-0' : 'block'}`}
    >
      {name}
    </Link>
  );
  const more = (
    <>
      {gist && (
        <span className="truncate font-mono text-xs text-muted" title={gist}>
          {gist}
        </span>
      )}
      {duplicates > 0 && <span className="text-xs whitespace-nowrap text-muted">+{duplicates} duplicates</span>}
    </>
  );
  return (
    <>
      {compact && wide ? (
        <span className="flex min-w-0 items-baseline gap-2">
          {link}
          {more}
        </span>
      ) : (
        <>
          {link}
          <span className="flex items-center gap-2">{more}</span>
        </>
      )}
      {!wide && (
        <span className="mt-1 block">
          <Runs runs={runs} functions={functions} compact={compact} wide={wide} />
        </span>
      )}
    </>
  );
}

const SHOWN_RUNS = 3;
/** What needs attention comes first: few runs of an event are shown. */
const FIRST = ['Failed', 'Running', 'Queued', 'Cancelled'];

function orderOf({ status }: RunSummary): number {
  const order = FIRST.indexOf(status);
  return order === -1 ? FIRST.length : order;
}

function Runs({ runs, functions, compact, wide }: CellProps & { runs: readonly RunSummary[] }) {
  if (runs.length === 0) return <span className="text-xs text-muted">No runs</span>;
  const shown = compact ? 1 : SHOWN_RUNS;
  const inOrder = runs.toSorted((a, b) => orderOf(a) - orderOf(b));
  return (
    <span className={`flex min-w-0 items-center gap-x-3 gap-y-1 ${compact ? '' : 'flex-wrap'}`}>
      {inOrder.slice(0, shown).map(({ run_id, function_id, status }) => (
        <Link
          key={run_id}
          to="/runs/$id"
          params={{ id: run_id }}
          title={`${function_id}: ${status}`}
          className="inline-flex max-w-full min-w-0 items-center gap-1.5 hover:underline"
        >
          <RunStatusBadge status={status} />
          <FunctionName id={function_id} fn={functions.get(function_id)} wide={wide} />
        </Link>
      ))}
      {runs.length > shown && (
        <span className="text-xs whitespace-nowrap text-muted" title={inOrder.slice(shown).map(summaryOf).join('\n')}>
          and {runs.length - shown} more
        </span>
      )}
    </span>
  );
}

function FunctionName({ id, fn, wide }: { id: string; fn: ReturnType<Names['functions']['get']>; wide: boolean }) {
  const cut = wide ? 'truncate' : 'break-words';
  return (
    <span className={`min-w-0 text-sm ${cut}`}>
      {fn?.name ?? id}
      {fn && fn.destination === null && <span className="text-xs text-muted"> {fn.app}</span>}
    </span>
  );
}

function summaryOf({ function_id, status }: RunSummary): string {
  return `${function_id}: ${status}`;
}

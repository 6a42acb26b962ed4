import { getRouteApi, Link } from '@tanstack/react-router';
import type { Replay, ReplayResult } from '../../api/types.ts';
import { Id } from '../../ui/code-block.tsx';
import type { Column } from '../../ui/data-table.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { ListTable } from '../../ui/list-table.tsx';
import { Card } from '../../ui/page.tsx';
import { SegmentedControl } from '../../ui/segmented-control.tsx';
import { Badge, RunStatusBadge } from '../../ui/status-badge.tsx';
import { useResults } from './queries.ts';
import { reasonText } from './texts.ts';

const route = getRouteApi('/replays/$id');
const OUTCOMES = [
  ['all', 'All'],
  ['started', 'Started'],
  ['skipped', 'Skipped'],
  ['failed', 'Could not start'],
] as const;
const LINK = 'text-accent hover:underline';

/** The result for each event and function. */
export function Results({ replay }: { replay: Replay }) {
  const { outcome } = route.useSearch();
  const navigate = route.useNavigate();
  const { list, active } = useResults(replay, outcome);
  const omitted = replay.progress.results_omitted;
  return (
    <section aria-label="Results">
      <div className="mb-3 flex flex-wrap items-center justify-between gap-2">
        <h2 className="font-medium">Results</h2>
        <SegmentedControl
          label="Outcome"
          options={OUTCOMES}
          value={outcome ?? 'all'}
          onChange={(selected) =>
            void navigate({
              search: ((before: object) => ({
                ...before,
                outcome: selected === 'all' ? undefined : selected,
              })) as never,
              replace: true,
              resetScroll: false,
            })
          }
        />
      </div>
      <ListTable
        list={list}
        label="Results"
        columns={COLUMNS}
        rowKey={({ event_id, function_id }) => `${event_id} ${function_id}`}
        rowHeight={52}
        empty={
          <Card>
            <EmptyState title={active ? 'No results yet' : 'No results'} />
          </Card>
        }
      />
      {omitted > 0 && (
        <p className="mt-2 text-sm text-muted">{omitted.toLocaleString()} more results are counted and not listed.</p>
      )}
    </section>
  );
}

const COLUMNS: Column<ReplayResult>[] = [
  { id: 'outcome', header: 'Outcome', width: '6.5rem', cell: (result) => <Outcome result={result} /> },
  {
    id: 'function',
    header: 'Function',
    width: 'minmax(0, 2fr)',
    cell: ({ function_id, reason }) => (
      <>
        <Link to="/functions/$id" params={{ id: function_id }} className="block truncate font-medium hover:underline">
          {function_id}
        </Link>
        {reason && (
          <span className="block truncate text-xs text-muted" title={reasonText(reason)}>
            {reasonText(reason)}
          </span>
        )}
      </>
    ),
  },
  {
    id: 'event',
    header: 'Event',
    width: 'minmax(0, 9rem)',
    hideOnMobile: true,
    cell: ({ event_id: id }) => (
      <Link to="/events/$id" params={{ id }} className={LINK}>
        <Id id={id} maxChars={12} />
      </Link>
    ),
  },
  { id: 'run', header: 'New run', width: 'minmax(0, 9rem)', cell: ({ run_id }) => <RunLink id={run_id} /> },
  {
    id: 'former',
    header: 'Former run',
    width: 'minmax(0, 9rem)',
    hideOnMobile: true,
    cell: ({ retry_of }) => <RunLink id={retry_of} />,
  },
];

function RunLink({ id }: { id: string | null }) {
  if (id === null) return <span className="text-muted">None</span>;
  return (
    <Link to="/runs/$id" params={{ id }} className={LINK}>
      <Id id={id} maxChars={12} />
    </Link>
  );
}

function Outcome({ result: { outcome, run_status } }: { result: ReplayResult }) {
  if (outcome === 'started') return <RunStatusBadge status={run_status ?? 'Queued'} />;
  if (outcome === 'skipped') return <Badge tone="neutral">Skipped</Badge>;
  return (
    <Badge tone="bad" icon="warning">
      Not started
    </Badge>
  );
}

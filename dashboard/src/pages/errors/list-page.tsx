import { getRouteApi, useNavigate } from '@tanstack/react-router';
import type { ErrorGroup } from '../../api/types.ts';
import { ErrorGroupLine } from '../../features/errors/error-group-line.tsx';
import { useErrorGroups, useLiveErrors } from '../../features/errors/queries.ts';
import { ErrorSparkline } from '../../features/errors/sparkline.tsx';
import { useFunctions } from '../../features/functions/queries.ts';
import { ShowMoreButton } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { Select } from '../../ui/field.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { SegmentedControl } from '../../ui/segmented-control.tsx';
import { Time } from '../../ui/time.tsx';
import { StateBadge, StateButtons } from './actions.tsx';

const route = getRouteApi('/errors');
const FILTERS = [
  ['open', 'Open'],
  ['resolved', 'Resolved'],
  ['ignored', 'Ignored'],
  ['all', 'All'],
] as const;

/** Why runs fail: the error groups of the environment. */
export default function ErrorsPage() {
  const { state = 'open', function: functionId } = route.useSearch();
  const navigate = useNavigate();
  useLiveErrors();
  const set = (change: object) =>
    void navigate({ to: '.', search: (before: object) => ({ ...before, ...change }) as never });
  return (
    <Page
      title="Errors"
      description="Why runs of functions fail, the newest failure first. Requests that become no events are under Webhook issues."
    >
      <div className="mb-4 flex flex-wrap items-center gap-3">
        <SegmentedControl
          label="State"
          options={FILTERS}
          value={state}
          onChange={(id) => set({ state: id === 'open' ? undefined : id })}
        />
        <FunctionFilter value={functionId} onChange={(id) => set({ function: id })} />
      </div>
      <List state={state} functionId={functionId} />
    </Page>
  );
}

function FunctionFilter({ value, onChange }: { value?: string | undefined; onChange(id: string | undefined): void }) {
  const { functions = [] } = useFunctions();
  const isKnown = value === undefined || functions.some(({ id }) => id === value);
  return (
    <Select
      label="Function"
      hideLabel
      className="w-auto!"
      value={value ?? ''}
      onChange={({ target }) => onChange(target.value || undefined)}
    >
      <option value="">All functions</option>
      {!isKnown && <option value={value}>{value}</option>}
      {functions.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </Select>
  );
}

function List({ state, functionId }: { state: ErrorGroup['state'] | 'all'; functionId: string | undefined }) {
  const filters = { state: state === 'all' ? undefined : state, function: functionId };
  const { rows, error, hasMore, loadMore, loadingMore, refetch } = useErrorGroups(filters);
  if (error) return <ErrorAlert error={error} onRetry={refetch} />;
  if (!rows) return <Loading rows={6} />;
  if (rows.length === 0 && !hasMore) {
    return (
      <EmptyState title={state === 'all' ? 'No errors' : `No ${state} errors`}>
        A run that fails for good is counted here, with all others that fail for the same reason.
      </EmptyState>
    );
  }
  return (
    <>
      <Card>
        <ul aria-label="Errors" className="divide-y divide-line">
          {rows.map((group) => (
            <Row key={group.fingerprint} group={group} showsState={state === 'all'} />
          ))}
        </ul>
      </Card>
      {hasMore && <ShowMoreButton busy={loadingMore} onClick={loadMore} />}
    </>
  );
}

function Row({ group, showsState }: { group: ErrorGroup; showsState: boolean }) {
  return (
    <li className="flex flex-wrap items-center gap-x-6 gap-y-2 px-4 py-3">
      <div className="min-w-0 flex-1 basis-72">
        <ErrorGroupLine group={group} showsFunction />
      </div>
      {showsState && <StateBadge state={group.state} />}
      <ErrorSparkline histogram={group.histogram} />
      <p className="w-28 text-xs text-muted">
        last <Time at={group.last_seen} />
        <br />
        first <Time at={group.first_seen} />
      </p>
      <span className="flex gap-2">
        <StateButtons group={group} />
      </span>
    </li>
  );
}

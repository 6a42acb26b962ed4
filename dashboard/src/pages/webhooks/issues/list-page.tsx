import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { ISSUE_KINDS, useIssues, useLiveIssues } from '../../../features/webhooks/issues.ts';
import { ShowMoreButton } from '../../../ui/button.tsx';
import { EmptyState } from '../../../ui/empty-state.tsx';
import { ErrorAlert } from '../../../ui/error-alert.tsx';
import { Select } from '../../../ui/field.tsx';
import { Loading } from '../../../ui/loading.tsx';
import { Page } from '../../../ui/page.tsx';
import { SegmentedControl } from '../../../ui/segmented-control.tsx';
import { IssueList } from './issue-list.tsx';
import { KINDS } from './texts.ts';

const route = getRouteApi('/webhook-issues');
const FILTERS = [
  ['unresolved', 'Unresolved'],
  ['open', 'Open'],
  ['acknowledged', 'Acknowledged'],
  ['resolved', 'Resolved'],
  ['ignored', 'Ignored'],
  ['all', 'All'],
] as const;

/** Issues of all webhooks. */
export default function IssuesPage() {
  const { state, kind } = route.useSearch();
  const navigate = useNavigate();
  useLiveIssues();
  const set = (change: object) =>
    void navigate({ to: '.', search: (before: object) => ({ ...before, ...change }) as never, replace: true });
  return (
    <Page
      title="Webhook issues"
      description="Ways in which webhooks fail to become events, the newest failure first. Failed runs are under Errors."
    >
      <div className="mb-4 flex flex-wrap items-center gap-3">
        <SegmentedControl
          label="State"
          options={FILTERS}
          value={state ?? 'unresolved'}
          onChange={(id) => set({ state: id === 'unresolved' ? undefined : id })}
        />
        <Select
          label="Kind"
          hideLabel
          className="w-auto!"
          value={kind ?? ''}
          onChange={({ target }) => set({ kind: target.value || undefined })}
        >
          <option value="">All kinds</option>
          {ISSUE_KINDS.map((each) => (
            <option key={each} value={each}>
              {KINDS[each]}
            </option>
          ))}
        </Select>
      </div>
      <List state={state} kind={kind} />
    </Page>
  );
}

function List({ state = 'open,acknowledged', kind }: { state: string | undefined; kind: string | undefined }) {
  const { rows, error, hasMore, loadMore, loadingMore, refetch } = useIssues(state === 'all' ? undefined : state, kind);
  if (error) return <ErrorAlert error={error} onRetry={refetch} />;
  if (!rows) return <Loading />;
  return (
    <>
      {rows.length === 0 ? <EmptyState title="No issues" /> : <IssueList issues={rows} showsWebhook />}
      {hasMore && <ShowMoreButton busy={loadingMore} onClick={loadMore} />}
    </>
  );
}

import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useMemo, useState } from 'react';
import type { AuditEntry } from '../../api/types.ts';
import { useList } from '../../api/use-list.ts';
import { DataTable } from '../../ui/data-table.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Page } from '../../ui/page.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { columnsFor } from './columns.tsx';
import { EntryDialog } from './entry-dialog.tsx';
import { Filters } from './filters.tsx';
import { isBefore, matchesFilter } from './matches-filter.ts';
import { RejectedAttempts } from './rejected-attempts.tsx';

const route = getRouteApi('/audit-log');
/** Older pages are loaded until this many entries match. */
const MIN_ROWS = 40;

const TABS = [
  ['changes', 'Changes'],
  ['refusals', 'Rejected attempts'],
] as const;

export default function AuditLogPage() {
  const { tab = 'changes' } = route.useSearch();
  return (
    <Page
      title="Audit log"
      description="Changes and rejected sign-in attempts. Keeps the latest 10,000 changes and 1,000 groups of rejected attempts."
    >
      <Tabs label="Audit log sections" tabs={TABS} current={tab} />
      {tab === 'refusals' ? <RejectedAttempts /> : <Log />}
    </Page>
  );
}

/** The API has no search: the log is filtered here. */
function Log() {
  const filter = route.useSearch();
  const { rows, error, loadMore, loadingMore, hasMore, refetch } = useList<AuditEntry>(['audit'], '/v1/audit');
  const [opened, setOpened] = useState<AuditEntry>();
  const columns = useMemo(() => columnsFor(setOpened), []);
  const { q, who, from, to } = filter;
  const found = useMemo(() => {
    const now = Date.now();
    return rows?.filter((entry) => matchesFilter(entry, { q, who, from, to }, now));
  }, [rows, q, who, from, to]);
  const isAllRead = isBefore(rows?.at(-1), { from }, Date.now());
  const searching = found !== undefined && found.length < MIN_ROWS && hasMore && !isAllRead && !error;
  useEffect(() => {
    if (searching) loadMore();
  }, [searching, loadMore]);
  if (error && !rows) return <ErrorAlert error={error} onRetry={refetch} />;
  if (!rows || !found) return <Loading rows={10} />;
  if (rows.length === 0) {
    return <EmptyState title="No changes yet">Changes by users and programs appear here.</EmptyState>;
  }
  return (
    <>
      <Filters read={rows.length} searching={searching} />
      {error && <ErrorAlert error={error} onRetry={refetch} />}
      {found.length > 0 && (
        <DataTable
          label="Audit log"
          columns={columns}
          rows={found}
          rowKey={({ id }) => id}
          onOpen={(entry) => setOpened(entry)}
          onEndReached={loadMore}
          loadingMore={loadingMore}
          rowHeight={52}
        />
      )}
      {found.length === 0 && !searching && (
        <EmptyState title="No matching entries">Change or clear the filters.</EmptyState>
      )}
      {found.length === 0 && searching && <Loading />}
      <EntryDialog entry={opened} onClose={() => setOpened(undefined)} />
    </>
  );
}

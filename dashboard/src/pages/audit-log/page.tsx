import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useMemo, useState } from 'react';
import type { AuditEntry } from '../../api/types.ts';
import { useList } from '../../api/use-list.ts';
import { AdminOnly } from '../../ui/admin-only.tsx';
import { DataTable } from '../../ui/data-table.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Page } from '../../ui/page.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { columnsFor } from './columns.tsx';
import { EntryDialog } from './entry-dialog.tsx';
import { FailedSignIns } from './failed-sign-ins.tsx';
import { Filters } from './filters.tsx';
import { matchesFilter } from './matches-filter.ts';

const route = getRouteApi('/audit-log');
/** Rows that fill a window: while fewer are found, the search goes on into the past. */
const MIN_ROWS = 40;

const TABS = [
  ['changes', 'Changes'],
  ['refusals', 'Refused attempts'],
] as const;

export default function AuditLogPage() {
  const { tab = 'changes' } = route.useSearch();
  return (
    <Page
      title="Audit log"
      description="Who changed what, and whose attempts to sign in were refused. The last 10,000 changes and 1,000 kinds of refusals."
    >
      <AdminOnly title="Only admins read the audit log">
        <Tabs label="Parts of the audit log" tabs={TABS} current={tab} />
        {tab === 'refusals' ? <FailedSignIns /> : <Log />}
      </AdminOnly>
    </Page>
  );
}

/** The service hands the log out whole; it is searched here. */
function Log() {
  const filter = route.useSearch();
  const {
    rows,
    error,
    loadMore: more,
    loadingMore,
    hasMore,
    refetch: again,
  } = useList<AuditEntry>(['audit'], '/v1/audit');
  const [opened, setOpened] = useState<AuditEntry>();
  const columns = useMemo(() => columnsFor(setOpened), []);
  const { q, who } = filter;
  const found = useMemo(() => rows?.filter((entry) => matchesFilter(entry, { q, who })), [rows, q, who]);
  const searching = found !== undefined && found.length < MIN_ROWS && hasMore && !error;
  useEffect(() => {
    if (searching) more();
  }, [searching, more]);
  if (error && !rows) return <ErrorAlert error={error} onRetry={again} />;
  if (!rows || !found) return <Loading rows={10} />;
  if (rows.length === 0) {
    return (
      <EmptyState title="Nothing was changed yet">Each change by a person or a program will stand here.</EmptyState>
    );
  }
  return (
    <>
      <Filters read={rows.length} searching={searching} />
      {error && <ErrorAlert error={error} onRetry={again} />}
      {found.length > 0 && (
        <DataTable
          label="Audit log"
          columns={columns}
          rows={found}
          rowKey={({ id }) => id}
          onOpen={(entry) => setOpened(entry)}
          onEndReached={more}
          loadingMore={loadingMore}
          rowHeight={52}
        />
      )}
      {found.length === 0 && !searching && (
        <EmptyState title="No entry is like that">Search for less, or for anybody.</EmptyState>
      )}
      {found.length === 0 && searching && <Loading />}
      <EntryDialog entry={opened} onClose={() => setOpened(undefined)} />
    </>
  );
}

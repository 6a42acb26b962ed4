import type { ReactNode } from 'react';
import type { PagedList } from '../api/use-list.ts';
import { DataTable, type DataTableProps } from './data-table.tsx';
import { ErrorAlert } from './error-alert.tsx';
import { Loading } from './loading.tsx';

interface ListTableProps<Row extends object>
  extends Omit<DataTableProps<Row>, 'rows' | 'onEndReached' | 'loadingMore'> {
  list: PagedList<Row>;
  /** Shown where the list has no rows. */
  empty?: ReactNode;
}

/** The table of a paged list, or the reason why there is no table yet. */
export function ListTable<Row extends object>({ list, empty, ...table }: ListTableProps<Row>) {
  const { rows, error, loadMore, loadingMore, refetch } = list;
  return (
    <>
      {error && <ErrorAlert error={error} onRetry={refetch} />}
      {!rows && !error && <Loading rows={6} />}
      {rows?.length === 0 && empty}
      {rows && (rows.length > 0 || !empty) && (
        <DataTable {...table} rows={rows} onEndReached={loadMore} loadingMore={loadingMore} />
      )}
    </>
  );
}

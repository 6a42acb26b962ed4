// biome-ignore-all lint/a11y/useFocusableInteractive: headers and rows of a plain table are not reached by Tab
// biome-ignore-all lint/a11y/useSemanticElements: only visible rows are rendered, absolutely positioned, which table elements do not allow
import { createColumnHelper, type RowData, tableFeatures, useTable } from '@tanstack/react-table';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import {
  type ReactNode,
  type RefObject,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { useShortcuts } from '../lib/use-shortcuts.ts';
import { useIsWideScreen } from '../lib/use-wide-screen.ts';
import { Loading } from './loading.tsx';
import { type SelectableRows, useSelectionColumn } from './row-selection/selection-column.tsx';

/** One column of a table. */
export interface Column<Row> {
  id: string;
  header: string;
  /** Shown instead of the text of the header. */
  headerCell?: ReactNode;
  cell(row: Row): ReactNode;
  /** A CSS grid track: `8rem`, `minmax(10rem, 1fr)`; or made from the rows (column-width.ts). */
  width: string | ((rows: readonly Row[]) => string);
  align?: 'right';
  hideOnMobile?: boolean;
  /** Only shown where it is chosen. */
  isOptional?: boolean;
  /** Always shown. */
  isFixed?: boolean;
}

export interface DataTableProps<Row extends RowData> {
  /** For screen readers: "Events". */
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey(row: Row): string;
  /** Called on a click, or on Enter for the row selected with j and k. */
  onOpen?(row: Row): void;
  /** Called when the user scrolls near the end. */
  onEndReached?(): void;
  loadingMore?: boolean;
  rowHeight?: number;
  /** One line per row, close together. */
  compact?: boolean;
  /** Selection by checkboxes; undefined: rows have no checkboxes. */
  selectable?: SelectableRows<Row> | undefined;
}

const features = tableFeatures({});
const END_THRESHOLD_ROWS = 15;
/** Height of the sticky header. */
const HEADER_PX = 40;

/** A virtualized table: only visible rows are rendered and in the table's model. The page scrolls, not the table. */
export function DataTable<Row extends RowData>(props: DataTableProps<Row>) {
  const { label, rows, rowKey, onOpen, onEndReached, loadingMore = false, rowHeight = 44, compact = false } = props;
  const { selectable } = props;
  const columns: readonly Column<Row>[] = useSelectionColumn({ columns: props.columns, rows, rowKey, selectable });
  const body = useRef<HTMLDivElement>(null);
  const [selected, setSelected] = useState<string>();
  const wide = useIsWideScreen();
  const visibleColumns = useMemo(() => columns.filter((column) => wide || !column.hideOnMobile), [columns, wide]);
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: useCallback(() => rowHeight, [rowHeight]),
    overscan: 12,
    scrollMargin: usePageOffset(body),
    scrollPaddingStart: HEADER_PX,
    // With a new function all positions would be computed again.
    getItemKey: useCallback((index: number) => keyAt(rows, index, rowKey), [rows, rowKey]),
  });
  const items = virtual.getVirtualItems();
  const first = items[0]?.index ?? 0;
  const last = items.at(-1)?.index ?? -1;
  const modelRows = useRows(visibleColumns, rows, first, last, rowKey);
  useEffect(() => {
    if (rows.length > 0 && last >= rows.length - END_THRESHOLD_ROWS) onEndReached?.();
  }, [last, rows.length, onEndReached]);

  const moveSelection = (by: number) => {
    const at = rows.findIndex((row) => rowKey(row) === selected);
    const next = Math.max(0, Math.min(rows.length - 1, at < 0 ? first : at + by));
    const row = rows[next];
    if (row === undefined) return;
    setSelected(rowKey(row));
    virtual.scrollToIndex(next, { align: 'auto' });
  };
  useShortcuts({
    j: () => moveSelection(1),
    k: () => moveSelection(-1),
    x: () => {
      if (selected !== undefined) selectable?.selection.toggle(selected, rows.map(rowKey));
    },
    Enter: () => {
      const row = rows.find((each) => rowKey(each) === selected);
      if (row && onOpen && !isInteractive(document.activeElement)) onOpen(row);
    },
  });

  const tracks = useMemo(
    () => visibleColumns.map(({ width }) => (typeof width === 'string' ? width : width(rows))).join(' '),
    [visibleColumns, rows],
  );
  return (
    <div className="overflow-x-clip rounded-lg border border-line bg-surface">
      <div role="table" aria-label={label} aria-rowcount={rows.length}>
        <div role="rowgroup" className="sticky top-0 z-10 rounded-t-lg border-b border-line bg-surface">
          <div
            role="row"
            className={`grid gap-x-4 px-4 text-xs font-medium text-muted ${compact ? 'py-1' : 'py-2'}`}
            style={{ gridTemplateColumns: tracks }}
          >
            {visibleColumns.map(({ id, header, headerCell, align }) => (
              <div key={id} role="columnheader" className={align === 'right' ? 'text-right' : ''}>
                {headerCell ?? (header || <span className="sr-only">{id}</span>)}
              </div>
            ))}
          </div>
        </div>
        <div ref={body} role="rowgroup" className="relative" style={{ height: virtual.getTotalSize() }}>
          {items.map((item) => {
            const row = modelRows[item.index - first];
            if (!row) return null;
            return (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the link in the row is for the keyboard; this is a larger target for the mouse
              <div
                key={item.key}
                role="row"
                tabIndex={-1}
                data-index={item.index}
                aria-rowindex={item.index + 1}
                ref={virtual.measureElement}
                data-selected={row.id === selected || undefined}
                onClick={(event) => {
                  if (onOpen && isPlainClick(event)) onOpen(row.original);
                }}
                className={`absolute inset-x-0 grid items-center gap-x-4 border-line px-4 ${compact ? 'py-0.5 text-sm' : 'py-2'} data-selected:bg-accent-soft ${item.index === rows.length - 1 ? '' : 'border-b'} ${onOpen ? 'cursor-pointer hover:bg-sunken' : ''}`}
                style={{
                  gridTemplateColumns: tracks,
                  transform: `translateY(${item.start - virtual.options.scrollMargin}px)`,
                  minHeight: rowHeight,
                }}
              >
                {visibleColumns.map(({ id, cell, align }) => (
                  <div key={id} role="cell" className={`min-w-0 ${align === 'right' ? 'text-right tabular-nums' : ''}`}>
                    {cell(row.original)}
                  </div>
                ))}
              </div>
            );
          })}
        </div>
      </div>
      {loadingMore && <Loading rows={3} />}
    </div>
  );
}

function useRows<Row extends RowData>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  first: number,
  last: number,
  rowKey: (row: Row) => string,
) {
  const definitions = useMemo(() => {
    const helper = createColumnHelper<typeof features, Row>();
    return columns.map(({ id, header, cell }) => helper.display({ id, header, cell: ({ row }) => cell(row.original) }));
  }, [columns]);
  const data = useMemo(() => rows.slice(first, last + 1), [rows, first, last]);
  return useTable({ features, columns: definitions, data, getRowId: rowKey }).getRowModel().rows;
}

function keyAt<Row>(rows: readonly Row[], index: number, rowKey: (row: Row) => string): string | number {
  const row = rows[index];
  return row === undefined ? index : rowKey(row);
}

/** Pixels from the top of the page to the rows; content above them may change it. */
function usePageOffset(element: RefObject<HTMLElement | null>): number {
  const [offset, setOffset] = useState(0);
  useLayoutEffect(() => {
    const measure = () => {
      if (element.current) setOffset(Math.round(element.current.getBoundingClientRect().top + window.scrollY));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(document.body);
    return () => observer.disconnect();
  }, [element]);
  return offset;
}

function isInteractive(element: Element | null): boolean {
  return element?.matches('a, button, input, select, textarea, summary') ?? false;
}

/** Ignores clicks on a link or button of the row, text selections, and clicks that open a new tab. */
function isPlainClick(event: React.MouseEvent): boolean {
  if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.shiftKey) return false;
  if ((event.target as Element).closest('a, button, input, select, label, summary, dialog')) return false;
  return !getSelection()?.toString();
}

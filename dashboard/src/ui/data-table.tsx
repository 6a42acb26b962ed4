// biome-ignore-all lint/a11y/useFocusableInteractive: headings and rows of a plain table are not reached by Tab
// biome-ignore-all lint/a11y/useSemanticElements: only the rows in sight are drawn, each at its place, which elements of a table do not allow
import { createColumnHelper, type RowData, tableFeatures, useTable } from '@tanstack/react-table';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, type RefObject, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { useKeys } from '../lib/use-shortcuts.ts';
import { Loading } from './loading.tsx';

/** One column: its heading, its cells, its width as a track of a CSS grid. */
export interface Column<Row> {
  id: string;
  header: string;
  cell(row: Row): ReactNode;
  /** Such as `8rem` or `minmax(10rem, 1fr)`. */
  width: string;
  align?: 'right';
  /** Left out on a phone. */
  hideOnMobile?: boolean;
}

interface DataTableProps<Row extends RowData> {
  /** What the rows are, for screen readers: "Events". */
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey(row: Row): string;
  /** Opens the row: by click on it, or Enter on the one that j and k have chosen. */
  onOpen?(row: Row): void;
  /** Asked for more rows when the reader nears the end. */
  onEndReached?(): void;
  loadingMore?: boolean;
  rowHeight?: number;
}

const features = tableFeatures({});
const END_THRESHOLD_ROWS = 15;
/** Of the headings, which stay in sight above the rows. */
const HEADER_PX = 40;

/** A list of any length, of which only the rows in sight are drawn, and are all that the table's model is made of. The page itself scrolls. */
export function DataTable<Row extends RowData>(props: DataTableProps<Row>) {
  const { label, columns, rows, rowKey, onOpen, onEndReached: onNearEnd, loadingMore = false, rowHeight = 44 } = props;
  const body = useRef<HTMLDivElement>(null);
  const [chosen, setChosen] = useState<string>();
  const wide = useIsWideScreen();
  const shown = useMemo(() => columns.filter((column) => wide || !column.hideOnMobile), [columns, wide]);
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => rowHeight,
    overscan: 12,
    scrollMargin: usePageOffset(body),
    scrollPaddingStart: HEADER_PX,
    getItemKey: (index) => keyAt(rows, index, rowKey),
  });
  const items = virtual.getVirtualItems();
  const first = items[0]?.index ?? 0;
  const last = items.at(-1)?.index ?? -1;
  const modelRows = useRows(shown, rows, first, last, rowKey);
  useEffect(() => {
    if (rows.length > 0 && last >= rows.length - END_THRESHOLD_ROWS) onNearEnd?.();
  }, [last, rows.length, onNearEnd]);

  const step = (by: number) => {
    const at = rows.findIndex((row) => rowKey(row) === chosen);
    const next = Math.max(0, Math.min(rows.length - 1, at < 0 ? first : at + by));
    const row = rows[next];
    if (row === undefined) return;
    setChosen(rowKey(row));
    virtual.scrollToIndex(next, { align: 'auto' });
  };
  useKeys({
    j: () => step(1),
    k: () => step(-1),
    Enter: () => {
      const row = rows.find((each) => rowKey(each) === chosen);
      if (row && onOpen && !isInteractive(document.activeElement)) onOpen(row);
    },
  });

  const tracks = shown.map(({ width }) => width).join(' ');
  return (
    <div className="overflow-x-clip rounded-lg border border-line bg-surface">
      <div role="table" aria-label={label} aria-rowcount={rows.length}>
        <div role="rowgroup" className="sticky top-0 z-10 rounded-t-lg border-b border-line bg-surface">
          <div
            role="row"
            className="grid gap-x-4 px-4 py-2 text-xs font-medium text-muted"
            style={{ gridTemplateColumns: tracks }}
          >
            {shown.map(({ id, header, align }) => (
              <div key={id} role="columnheader" className={align === 'right' ? 'text-right' : ''}>
                {header || <span className="sr-only">{id}</span>}
              </div>
            ))}
          </div>
        </div>
        <div ref={body} role="rowgroup" className="relative" style={{ height: virtual.getTotalSize() }}>
          {items.map((item) => {
            const row = modelRows[item.index - first];
            if (!row) return null;
            return (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the link in the row is the keyboard's way; this is the mouse's larger target
              <div
                key={item.key}
                role="row"
                tabIndex={-1}
                data-index={item.index}
                aria-rowindex={item.index + 1}
                ref={virtual.measureElement}
                data-chosen={row.id === chosen || undefined}
                onClick={(event) => {
                  if (onOpen && isPlainClick(event)) onOpen(row.original);
                }}
                className={`absolute inset-x-0 grid items-center gap-x-4 border-line px-4 py-2 data-chosen:bg-accent-soft ${item.index === rows.length - 1 ? '' : 'border-b'} ${onOpen ? 'cursor-pointer hover:bg-sunken' : ''}`}
                style={{
                  gridTemplateColumns: tracks,
                  transform: `translateY(${item.start - virtual.options.scrollMargin}px)`,
                  minHeight: rowHeight,
                }}
              >
                {shown.map(({ id, cell, align }) => (
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

/** Pixels between the top of the page and the rows, which what stands above them may change. */
function usePageOffset(element: RefObject<HTMLElement | null>): number {
  const [place, setPlace] = useState(0);
  useLayoutEffect(() => {
    const measure = () => {
      if (element.current) setPlace(Math.round(element.current.getBoundingClientRect().top + window.scrollY));
    };
    measure();
    const resized = new ResizeObserver(measure);
    resized.observe(document.body);
    return () => resized.disconnect();
  }, [element]);
  return place;
}

function isInteractive(element: Element | null): boolean {
  return element?.matches('a, button, input, select, textarea, summary') ?? false;
}

/** Not on a link or button of the row, not to select text, not for a new tab. */
function isPlainClick(event: React.MouseEvent): boolean {
  if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.shiftKey) return false;
  if ((event.target as Element).closest('a, button, input, select, label, summary')) return false;
  return !getSelection()?.toString();
}

function useIsWideScreen(): boolean {
  const [wide, setWide] = useState(() => matchMedia('(min-width: 48rem)').matches);
  useEffect(() => {
    const media = matchMedia('(min-width: 48rem)');
    const look = () => setWide(media.matches);
    media.addEventListener('change', look);
    return () => media.removeEventListener('change', look);
  }, []);
  return wide;
}

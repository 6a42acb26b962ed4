/** The column of checkboxes before a table's own columns. */
import { type ReactNode, useMemo } from 'react';
import type { RowSelection } from './use-row-selection.ts';

export interface SelectableRows<Row> {
  selection: RowSelection;
  /** Completes "Select …": "run of shop-charge, 01KE…". */
  labelOf(row: Row): string;
}

/** A column as the table takes it. */
interface SelectionColumn<Row> {
  id: string;
  header: string;
  headerCell: ReactNode;
  width: string;
  cell(row: Row): ReactNode;
}

interface Given<Row, Column> {
  columns: readonly Column[];
  rows: readonly Row[];
  rowKey(row: Row): string;
  selectable: SelectableRows<Row> | undefined;
}

/** @returns the columns, with the checkboxes first where rows can be selected */
export function useSelectionColumn<Row, Column>({
  columns,
  rows,
  rowKey,
  selectable,
}: Given<Row, Column>): readonly (Column | SelectionColumn<Row>)[] {
  const selection = selectable?.selection;
  // biome-ignore lint/correctness/useExhaustiveDependencies: `rowKey` and `labelOf` do not depend on the render
  return useMemo(() => {
    if (!selection) return columns;
    const keys = rows.map(rowKey);
    const first: SelectionColumn<Row> = {
      id: 'select',
      header: '',
      width: '1.25rem',
      headerCell: <HeaderCheckbox keys={keys} selection={selection} />,
      cell: (row) => (
        <Box
          label={`Select ${selectable.labelOf(row)}`}
          checked={selection.isSelected(rowKey(row))}
          onToggle={(range) => selection.toggle(rowKey(row), keys, range)}
        />
      ),
    };
    return [first, ...columns];
  }, [columns, rows, selection]);
}

function HeaderCheckbox({ keys, selection }: { keys: readonly string[]; selection: RowSelection }) {
  const selected = keys.filter((key) => selection.isSelected(key)).length;
  return (
    <Box
      label="Select all loaded rows"
      checked={keys.length > 0 && selected === keys.length}
      indeterminate={selected > 0 && selected < keys.length}
      onToggle={() => selection.setLoaded(keys, selected < keys.length)}
    />
  );
}

interface BoxProps {
  label: string;
  checked: boolean;
  indeterminate?: boolean;
  /** @param range Shift is held */
  onToggle(range: boolean): void;
}

function Box({ label, checked, indeterminate = false, onToggle }: BoxProps) {
  return (
    // The label makes the target larger than the box, but no row higher: 24 by 24 pixels at least.
    <label className="-mx-2 -my-2.5 flex size-9 cursor-pointer items-center justify-center">
      <input
        type="checkbox"
        aria-label={label}
        checked={checked}
        ref={(box) => {
          if (box) box.indeterminate = indeterminate;
        }}
        onChange={({ nativeEvent }) => onToggle((nativeEvent as MouseEvent).shiftKey)}
        className="size-4 accent-(--accent)"
      />
    </label>
  );
}

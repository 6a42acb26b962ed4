/** Columns and density of a list: from the URL, else as this browser remembers them, else the defaults. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import type { Column } from '../../ui/data-table.tsx';

export type Density = 'compact' | 'comfortable';

/** Row heights in pixels. */
export const ROW_PX: Record<Density, number> = { compact: 25, comfortable: 52 };

interface Remembered {
  /** IDs of the shown columns. */
  columns?: string[];
  density?: Density;
}

export interface ListView<Row> {
  /** All columns that can be chosen. */
  offered: readonly Column<Row>[];
  shown: readonly Column<Row>[];
  density: Density;
  toggle(column: string): void;
  setDensity(density: Density): void;
  /** The part that a saved view contains. */
  params: { columns: string | undefined; density: Density | undefined };
}

/** @param list under which the choice is remembered */
export function useDensity(list: string): Density {
  const { density } = useSearch({ strict: false }) as { density?: Density };
  return density ?? read(list).density ?? 'compact';
}

export function useListView<Row>(list: string, columns: readonly Column<Row>[]): ListView<Row> {
  const search = useSearch({ strict: false }) as { columns?: string; density?: Density };
  const navigate = useNavigate();
  const [remembered, setRemembered] = useState(() => read(list));
  const chosen = search.columns?.split(',') ?? remembered.columns;
  const text = chosen?.join(',');
  const shown = useMemo(() => {
    const ids = text?.split(',');
    return columns.filter(({ id, isOptional, isFixed }) => isFixed || (ids ? ids.includes(id) : !isOptional));
  }, [columns, text]);
  const density = search.density ?? remembered.density ?? 'compact';
  const remember = (change: Remembered) => {
    const next = { ...(chosen && { columns: chosen }), density, ...change };
    setRemembered(next);
    write(list, next);
    // The URL's values came from another user or from a saved view: from here on they are the reader's own choice.
    const cleared = (before: object) => ({ ...before, columns: undefined, density: undefined }) as never;
    void navigate({ to: '.', search: cleared, replace: true, resetScroll: false });
  };
  return {
    offered: columns.filter(({ isFixed }) => !isFixed),
    shown,
    density,
    toggle(column) {
      const ids = shown.map(({ id }) => id);
      remember({ columns: ids.includes(column) ? ids.filter((id) => id !== column) : [...ids, column] });
    },
    setDensity: (to) => remember({ density: to }),
    params: {
      columns: chosen && shown.map(({ id }) => id).join(','),
      density: density === 'compact' ? undefined : density,
    },
  };
}

const keyOf = (list: string) => `list:${list}`;

function read(list: string): Remembered {
  try {
    const { columns, density } = JSON.parse(localStorage.getItem(keyOf(list)) ?? '{}') as Remembered;
    const isList = Array.isArray(columns) && columns.every((id) => typeof id === 'string');
    return {
      ...(isList && { columns }),
      ...((density === 'compact' || density === 'comfortable') && { density }),
    };
  } catch {
    return {};
  }
}

function write(list: string, remembered: Remembered): void {
  localStorage.setItem(keyOf(list), JSON.stringify(remembered));
}

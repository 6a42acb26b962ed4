/** Which rows of a list are selected: some, by key, or all that match the list's filter, loaded or not. */
import { useMemo, useRef, useState } from 'react';

export interface RowSelection {
  /** Keys of the selected rows. */
  keys: ReadonlySet<string>;
  /** All rows that match the filter are selected, including rows that are not loaded; `keys` is empty. */
  all: boolean;
  isSelected(key: string): boolean;
  /** @param range also toggles the rows between this row and the last toggled row, all to the same state
   *  @param loaded keys of the loaded rows, in order */
  toggle(key: string, loaded: readonly string[], range?: boolean): void;
  /** Selects or clears all loaded rows. */
  setLoaded(loaded: readonly string[], selected: boolean): void;
  selectAllMatching(): void;
  clear(): void;
}

interface State {
  of: string;
  keys: ReadonlySet<string>;
  all: boolean;
}

const NONE: ReadonlySet<string> = new Set();
/** Maximum number of rows that one request may name. */
export const SELECTED_MAX = 1_000;

/** @param of identity of the list, such as its filters and environment: in another list nothing is selected */
export function useRowSelection(of: string): RowSelection {
  const [state, setState] = useState<State>({ of, keys: NONE, all: false });
  const anchor = useRef<string>(undefined);
  return useMemo(() => {
    const { keys, all } = state.of === of ? state : { keys: NONE, all: false };
    const set = (next: Iterable<string>) =>
      setState({ of, keys: new Set([...next].slice(0, SELECTED_MAX)), all: false });
    const isSelected = (key: string) => all || keys.has(key);
    return {
      keys,
      all,
      isSelected,
      toggle(key, loaded, range = false) {
        const before = all ? new Set(loaded) : new Set(keys);
        const select = !isSelected(key);
        for (const each of range ? between(loaded, anchor.current, key) : [key]) {
          if (select) before.add(each);
          else before.delete(each);
        }
        anchor.current = key;
        set(before);
      },
      setLoaded(loaded, selected) {
        set(selected ? [...keys, ...loaded.filter((key) => !keys.has(key))] : []);
      },
      selectAllMatching: () => setState({ of, keys: NONE, all: true }),
      clear: () => setState({ of, keys: NONE, all: false }),
    };
  }, [of, state]);
}

/** @returns the keys between two rows, in either direction */
function between(loaded: readonly string[], from: string | undefined, to: string): readonly string[] {
  const start = from === undefined ? -1 : loaded.indexOf(from);
  const end = loaded.indexOf(to);
  if (start < 0 || end < 0) return [to];
  return loaded.slice(Math.min(start, end), Math.max(start, end) + 1);
}

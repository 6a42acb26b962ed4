import { type ReactNode, useEffect } from 'react';
import { Button, IconButton } from '../button.tsx';
import type { RowSelection } from './use-row-selection.ts';

export interface MatchCount {
  count: number;
  /** false: the number is a lower bound. */
  isExact: boolean;
}

interface SelectionBarProps {
  selection: RowSelection;
  /** "run", "runs". */
  nouns: readonly [string, string];
  /** Number of rows that match the list's filter, from the service; undefined: unknown, or rows cannot be selected by filter. */
  matching?: MatchCount | undefined;
  /** Actions on the selected rows. */
  children: ReactNode;
}

/** Number of selected rows and actions on them; nothing if no row is selected. The bar stays in view, and Escape clears the selection. */
export function SelectionBar({ selection, nouns, matching, children }: SelectionBarProps) {
  const { keys, all, clear } = selection;
  const isShown = all || keys.size > 0;
  useClearOnEscape(isShown, clear);
  if (!isShown) return null;
  const selected = all ? textOf(matching, nouns, 'All ', ' that match') : textOf(exact(keys.size), nouns);
  return (
    <section
      aria-label="Selection"
      className="sticky bottom-3 z-20 mx-auto mt-3 flex w-fit max-w-full flex-wrap items-center gap-2 rounded-xl border border-line-strong bg-surface px-3 py-2 shadow-xl"
    >
      <p role="status" className="px-1 text-sm font-medium tabular-nums">
        {selected} selected
      </p>
      {!all && matching && matching.count > keys.size && (
        <Button variant="ghost" onClick={selection.selectAllMatching}>
          Select {textOf(matching, nouns, 'all ', ' that match')}
        </Button>
      )}
      {children}
      <IconButton icon="close" label="Clear selection" onClick={clear} />
    </section>
  );
}

function textOf(
  total: MatchCount | undefined,
  [one, many]: readonly [string, string],
  before = '',
  after = '',
): string {
  if (!total) return `${before}${many}${after}`;
  const { count, isExact } = total;
  return `${before}${isExact ? '' : 'more than '}${count.toLocaleString()} ${count === 1 ? one : many}${after}`;
}

function exact(count: number): MatchCount {
  return { count, isExact: true };
}

/** Ignored while a dialog is open, because Escape closes the dialog then. */
function useClearOnEscape(isShown: boolean, clear: () => void): void {
  useEffect(() => {
    if (!isShown) return;
    const listener = ({ key, defaultPrevented }: KeyboardEvent) => {
      if (key === 'Escape' && !defaultPrevented && !document.querySelector('dialog[open]')) clear();
    };
    window.addEventListener('keydown', listener);
    return () => window.removeEventListener('keydown', listener);
  }, [isShown, clear]);
}

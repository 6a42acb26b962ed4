import { type ReactNode, useEffect } from 'react';
import { Button, IconButton } from '../button.tsx';
import type { RowSelection } from './use-row-selection.ts';

export interface MatchCount {
  count: number;
  /** false: at least so many. */
  isExact: boolean;
}

interface SelectionBarProps {
  selection: RowSelection;
  /** "run", "runs". */
  nouns: readonly [string, string];
  /** How many rows match the list's filter, by the service; undefined: not known, or they cannot be selected by filter. */
  matching?: MatchCount | undefined;
  /** The actions for what is selected. */
  children: ReactNode;
}

/** How many rows are selected, and what can be done with them; nothing while none are. It stays in view, and Escape clears the selection. */
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

/** Not while a dialog is open, whose key it is then. */
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

import { type RefObject, useEffect, useRef, useState } from 'react';

/** Selects the first row, also when a row that was found later comes before it, until the user selects another.
 *  @param shown changes with the rows, and with the query
 *  @returns properties of the root */
export function useFirstSelected(list: RefObject<HTMLElement | null>, query: string, shown: string) {
  const [value, setValue] = useState('');
  const hasChosen = useRef(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another query has another choice
  useEffect(() => {
    hasChosen.current = false;
  }, [query]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when other rows are shown
  useEffect(() => {
    if (hasChosen.current) return;
    // The rows are sorted after they are rendered.
    const frame = requestAnimationFrame(() => {
      const first = list.current?.querySelector('[cmdk-item]')?.getAttribute('data-value');
      if (first) setValue(first);
      list.current?.scrollTo({ top: 0 });
    });
    return () => cancelAnimationFrame(frame);
  }, [shown, list]);
  const choose = () => {
    hasChosen.current = true;
  };
  return {
    value,
    onValueChange: setValue,
    onPointerMove: choose,
    onKeyDown: ({ key }: { key: string }) => {
      if (/^(Arrow(Up|Down)|Home|End)$/.test(key)) choose();
    },
  };
}

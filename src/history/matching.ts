/** Tests many events or runs without blocking the event loop. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Matcher, ReadVariable } from '../model/search/evaluate.ts';

const SLICE_MS = 10;

export async function matching<T>(
  items: readonly T[],
  matches: Matcher,
  readsOf: (item: T, index: number) => ReadVariable,
): Promise<T[]> {
  const found: T[] = [];
  let startedAt = performance.now();
  for (const [i, item] of items.entries()) {
    if (matches(readsOf(item, i))) found.push(item);
    if (performance.now() - startedAt > SLICE_MS) {
      await nextTurn();
      startedAt = performance.now();
    }
  }
  return found;
}

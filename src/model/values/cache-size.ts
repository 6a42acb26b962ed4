/** Options of a cache with at most so many entries, whose memory grows with them. The option `max` takes that of all entries at once: 0.2 ms and 0.2 MB for
 *  10,000, and most caches of a process stay nearly empty. */
export function atMost(entries: number): { maxSize: number; sizeCalculation: () => number } {
  return { maxSize: entries, sizeCalculation: () => 1 };
}

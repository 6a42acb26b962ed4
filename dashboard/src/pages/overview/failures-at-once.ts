import { useQueryClient } from '@tanstack/react-query';
import { useLiveUpdates } from '../../api/live-updates.ts';
import { useThrottled } from '../../lib/use-throttled.ts';

/** What of the page counts failed runs, beside the status, which all pages refetch. */
const KEYS = ['metrics', 'overview', 'alerts', 'errors'];

/** Refetches all numbers together when a run fails: one by one they would contradict each other. */
export function useFailuresAtOnce(): void {
  const queries = useQueryClient();
  const refetch = useThrottled(async () => {
    await Promise.all(KEYS.map((key) => queries.invalidateQueries({ queryKey: [key] })));
  });
  useLiveUpdates('runs', ({ runs }) => {
    if (runs.some(({ status }) => status === 'Failed')) refetch();
  });
}

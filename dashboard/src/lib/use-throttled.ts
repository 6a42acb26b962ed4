import { useCallback, useRef } from 'react';

const INTERVAL_MS = 1_000;

/** Runs at once, then at most once per interval, including the last call. Errors are ignored: the next call tries again. */
export function useThrottled(work: () => Promise<void>, intervalMs = INTERVAL_MS): () => void {
  const state = useRef({ busy: false, again: false });
  const latest = useRef(work);
  latest.current = work;
  return useCallback(() => {
    const run = async () => {
      state.current = { busy: true, again: false };
      await latest.current().catch(() => {});
      setTimeout(() => {
        state.current.busy = false;
        if (state.current.again) void run();
      }, intervalMs);
    };
    if (state.current.busy) state.current.again = true;
    else void run();
  }, [intervalMs]);
}

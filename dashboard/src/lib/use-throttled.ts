import { useCallback, useRef } from 'react';

const EVERY_MS = 1_000;

/** At once, and then no more often than that, the last wish included. What fails is asked again by the next. */
export function useThrottled(work: () => Promise<void>): () => void {
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
      }, EVERY_MS);
    };
    if (state.current.busy) state.current.again = true;
    else void run();
  }, []);
}

/** Looks after forgotten runs from time to time: on starting, and then at intervals that differ a little between processes. */
import { setTimeout } from 'node:timers/promises';
import { type ReconcileDeps, reconcile } from '../jobs/reconcile.ts';
import type { Logger } from '../log.ts';

export interface Reconciler {
  close(): Promise<void>;
}

export function startReconciler(deps: ReconcileDeps, everyMs: number, log: Logger): Reconciler {
  const end = new AbortController();
  const done = keepLooking(deps, everyMs, log, end.signal);
  return {
    async close() {
      end.abort();
      await done;
    },
  };
}

async function keepLooking(deps: ReconcileDeps, everyMs: number, log: Logger, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      const looked = await reconcile(deps, Date.now());
      if (looked > 0) log.info({ runs: looked }, 'looked after runs that were not heard of');
    } catch (error) {
      log.warn({ err: (error as Error).message }, 'runs could not be looked after');
    }
    // Ending early is no error.
    await setTimeout(everyMs * (0.75 + Math.random() / 2), undefined, { signal }).catch(() => undefined);
  }
}

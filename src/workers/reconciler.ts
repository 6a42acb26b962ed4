/** Looks after forgotten runs from time to time: on starting, and then at intervals that differ a little between processes. */
import { setTimeout } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { type ReconcileDeps, reconcile } from '../jobs/runs/reconcile.ts';
import type { Logger } from '../log.ts';

/** A round that takes longer is broken off: any worker may die at any time. */
const LAST_ROUND_MS = 1_000;
const TROUBLES_MAX = 10_000;

export interface Reconciler {
  close(): Promise<void>;
}

export function startReconciler(deps: ReconcileDeps, everyMs: number, log: Logger): Reconciler {
  const end = new AbortController();
  const done = keepLooking(deps, everyMs, log, end.signal);
  return {
    async close() {
      end.abort();
      await Promise.race([done, setTimeout(LAST_ROUND_MS, undefined, { ref: false })]);
    },
  };
}

async function keepLooking(deps: ReconcileDeps, everyMs: number, log: Logger, signal: AbortSignal): Promise<void> {
  const troubles = new LRUCache<string, number>({ max: TROUBLES_MAX });
  while (!signal.aborted) {
    try {
      const looked = await reconcile(deps, Date.now(), troubles, log);
      if (looked > 0) log.info({ runs: looked }, 'looked after runs that were not heard of');
    } catch (error) {
      log.warn({ err: (error as Error).message }, 'runs could not be looked after');
    }
    // Ending early is no error.
    await setTimeout(everyMs * (0.75 + Math.random() / 2), undefined, { signal }).catch(() => undefined);
  }
}

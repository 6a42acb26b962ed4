/** Looks after branch environments from time to time: deletes what is to be deleted, and sees which are not used any more. */
import { setTimeout } from 'node:timers/promises';
import { type BranchDeps, deleteEnvironments, expireBranches } from '../jobs/environments/branch-lifecycle.ts';

const ROUND_MS = 5_000;
/** While something is being deleted, which takes two rounds at least. */
const BUSY_ROUND_MS = 1_000;
/** Seeing which branches are used costs a few reads for each. */
const EXPIRY_LOOK_MS = 600_000;

export interface BranchJanitor {
  close(): Promise<void>;
}

/** @param expiryMs undefined: branches do not expire */
export function startBranchJanitor(deps: BranchDeps, expiryMs: number | undefined): BranchJanitor {
  const end = new AbortController();
  const done = keep(deps, expiryMs, end.signal);
  return {
    async close() {
      end.abort();
      await done;
    },
  };
}

async function keep(deps: BranchDeps, expiryMs: number | undefined, signal: AbortSignal): Promise<void> {
  let lookedAt = 0;
  while (!signal.aborted) {
    let busy = false;
    try {
      const now = Date.now();
      if (expiryMs !== undefined && now - lookedAt >= Math.min(EXPIRY_LOOK_MS, expiryMs)) {
        lookedAt = now;
        await expireBranches(deps, expiryMs, now);
      }
      busy = await deleteEnvironments(deps, signal, Date.now());
    } catch (error) {
      deps.log.warn({ err: (error as Error).message }, 'branch environments could not be looked after');
    }
    // Ending early is no error. Several workers do not look at the same moment.
    await setTimeout((busy ? BUSY_ROUND_MS : ROUND_MS) * (0.75 + Math.random() / 2), undefined, { signal }).catch(
      () => undefined,
    );
  }
}

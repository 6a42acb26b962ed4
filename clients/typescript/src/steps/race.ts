/** Races of branches. In race mode the service calls the function again when any pending step has ended, not when all have. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Op } from './op.ts';

const racing = new AsyncLocalStorage<boolean>();

/** Whether the current code belongs to a branch of a race. */
export function isRacing(): boolean {
  return racing.getStore() ?? false;
}

export async function race<T>(branches: readonly (() => T)[]): Promise<Awaited<T>> {
  if (branches.length === 0) throw new TypeError('A race needs a branch: step.race([() => step.run(…), …])');
  return Promise.race(branches.map((branch) => racing.run(true, async () => branch())));
}

export function inRaceMode(op: Op): Op {
  return { ...op, opts: { ...op.opts, parallelMode: 'race' } };
}

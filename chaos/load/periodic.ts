/** Work that is repeated while a run lasts, between requests. */
import { setTimeout } from 'node:timers/promises';

const TICK_MS = 200;

/** @param isOver is asked often, so that nobody waits for the next round */
export async function everyMs(ms: number, isOver: () => boolean, work: () => Promise<void>): Promise<void> {
  for (let lastMs = performance.now(); !isOver(); await setTimeout(TICK_MS)) {
    if (performance.now() - lastMs < ms) continue;
    await work();
    lastMs = performance.now();
  }
}

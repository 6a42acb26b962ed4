/** Waits after the last fault until every acknowledged event has all its runs finished, or it takes too long. */
import { setTimeout } from 'node:timers/promises';
import { type EventState, type Expectations, isSettled } from '../history/properties/completion.ts';
import type { Acknowledged } from '../load/ledger.ts';
import type { Service } from '../service.ts';
import type { Timeline } from '../timeline.ts';
import { type Acknowledgements, readEvent } from './snapshot.ts';

const POLL_MS = 250;
const AT_ONCE = 8;

export async function recover(
  service: Service,
  timeline: Timeline,
  events: Iterable<Acknowledged>,
  expectations: Expectations,
  patienceMs: number,
): Promise<Acknowledgements> {
  const startedAt = performance.now();
  const found: Acknowledgements = { events: [], runs: [] };
  const add = ({ stored, runs }: EventState) => {
    if (stored) found.events.push(stored);
    found.runs.push(...runs);
  };
  let pending = [...events];
  for (;;) {
    const isLast = performance.now() - startedAt > patienceMs;
    const again: Acknowledged[] = [];
    const queue = [...pending];
    const work = async () => {
      for (let event = queue.pop(); event; event = queue.pop()) {
        const state = await readEvent(service, timeline, event, expectations);
        if (!isLast && !isSettled(state, expectations)) again.push(event);
        else add(state);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    if (again.length === 0) return found;
    pending = again;
    await setTimeout(POLL_MS);
  }
}

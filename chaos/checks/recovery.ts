/** Waits after the last fault until replays have started all their runs, and every acknowledged event has all its runs finished, or it takes too long. */
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
  const isOver = () => performance.now() - startedAt > patienceMs;
  while (!isOver() && (await hasReplays(service))) await setTimeout(POLL_MS);
  const found: Acknowledgements = { events: [], runs: [] };
  const add = ({ stored, runs }: EventState) => {
    if (stored) found.events.push(stored);
    found.runs.push(...runs);
  };
  let pending = [...events];
  for (;;) {
    const isLast = isOver();
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

/** Whether some go on. */
async function hasReplays(service: Service): Promise<boolean> {
  const replays = await service.list<{ status: string }>('/v1/replays?limit=100');
  return replays.some(({ status }) => status === 'running');
}

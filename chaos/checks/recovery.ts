/** Waits after the last fault until replays have started all their runs, and every acknowledged event is listed and has all its runs finished,
 *  or it takes too long. */
import { setTimeout } from 'node:timers/promises';
import { type EventState, type Expectations, isSettled } from '../history/properties/completion.ts';
import type { Acknowledged } from '../load/ledger.ts';
import type { Service } from '../service.ts';
import type { Timeline } from '../timeline.ts';
import { findUnlisted } from './lists.ts';
import { type Acknowledgements, readEvent } from './snapshot.ts';

const POLL_MS = 250;
const AT_ONCE = 8;

/** @param limits when the run of chaos started, Unix milliseconds, and how long this may take */
export async function recover(
  service: Service,
  timeline: Timeline,
  events: Iterable<Acknowledged>,
  expectations: Expectations,
  { startedAt, patienceMs }: { startedAt: number; patienceMs: number },
): Promise<Acknowledgements> {
  const beganAt = performance.now();
  const isOver = () => performance.now() - beganAt > patienceMs;
  while (!isOver() && (await hasReplays(service))) await setTimeout(POLL_MS);
  const found: Acknowledgements = { events: [], runs: [] };
  const add = ({ stored, runs }: EventState) => {
    if (stored) found.events.push(stored);
    found.runs.push(...runs);
  };
  // Then one after the other: to read all that are not settled again and again keeps web processes busy all the time.
  const pending: Acknowledged[] = [];
  await forEach(events, async (event) => {
    const state = await readEvent(service, timeline, event, expectations);
    if (isSettled(state, expectations)) add(state);
    else pending.push(event);
  });
  await forEach(pending, async (event) => {
    for (;;) {
      const isLast = isOver();
      const state = await readEvent(service, timeline, event, expectations);
      if (isLast || isSettled(state, expectations)) return add(state);
      await setTimeout(POLL_MS);
    }
  });
  const ids = found.events.map(({ eventId }) => eventId);
  while (!isOver() && (await findUnlisted(service, ids, startedAt)).length > 0) await setTimeout(POLL_MS);
  return found;
}

async function forEach(events: Iterable<Acknowledged>, work: (event: Acknowledged) => Promise<void>): Promise<void> {
  const queue = [...events];
  const next = async () => {
    for (let event = queue.pop(); event; event = queue.pop()) await work(event);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
}

/** Whether some go on. */
async function hasReplays(service: Service): Promise<boolean> {
  const replays = await service.list<{ status: string }>('/v1/replays?limit=100');
  return replays.some(({ status }) => status === 'running');
}

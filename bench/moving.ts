/** Events that a test bed's worker has stored, and their way to Postgres. */
import { setTimeout } from 'node:timers/promises';
import type { CostMeter } from './cost-meter.ts';
import type { TestBed } from './test-bed.ts';

/** The least that a worker accepts. */
export const HOT_MS = 3_600;
const POLL_MS = 50;

/** Stores events, and ends their runs.
 *  @param event by its number */
export async function store(testBed: TestBed, count: number, event: (n: number) => object): Promise<void> {
  await testBed.startWorker();
  await testBed.service.sendEach(event, count);
  await testBed.service.untilDrained();
  await testBed.stopWorker();
}

/** Waits until the first of the stored events are archived by a running worker.
 *  @param before rows of the archive */
export async function untilMoving({ archive, bench: { signal } }: TestBed, before: number): Promise<void> {
  while ((await archive.rows('events')) === before) await setTimeout(POLL_MS, undefined, { signal });
}

/** A worker moves all that is stored, and stops.
 *  @param count events, in an archive that has none
 *  @param meter measures what a moved event costs, if it is to be known
 *  @returns events per second, from the first commit until Redis has nothing of them any more */
export async function moveAll(testBed: TestBed, count: number, meter?: CostMeter): Promise<number> {
  const { archive, bench, service } = testBed;
  await setTimeout(HOT_MS, undefined, { signal: bench.signal });
  await testBed.startWorker(archive.envOfHot(HOT_MS));
  await untilMoving(testBed, 0);
  const [first, startedAt] = [await archive.rows('events'), performance.now()];
  const untilMoved = async () => {
    while ((await archive.rows('events')) < count || (await service.ingestedEvents()) > 0) {
      await setTimeout(POLL_MS, undefined, { signal: bench.signal });
    }
  };
  await (meter ? meter.measure(untilMoved, () => count - first) : untilMoved());
  const elapsedMs = performance.now() - startedAt;
  // A later round frees the index of ended runs.
  await setTimeout(HOT_MS, undefined, { signal: bench.signal });
  await testBed.stopWorker();
  return (1_000 * (count - first)) / elapsedMs;
}

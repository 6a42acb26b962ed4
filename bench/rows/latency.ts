/** How soon a function is called when little is to be done: from when an event is sent, of a hundred a second. */
import { setTimeout } from 'node:timers/promises';
import type { Measure } from '../bench.ts';
import { now } from '../count-calls.ts';
import { median, quantile } from '../statistics.ts';
import type { Stage } from '../test-bed.ts';

const PACE_MS = 10;
/** Rounds are so many times as long as others. */
const LENGTH = 2;
const WORK = `event received to function called, ${1_000 / PACE_MS} events/s`;
const group = 'runs';

export const latency: Measure = {
  group,
  names: [WORK],
  measure: (bench) =>
    bench.onStage({}, async (stage) => {
      await stage.service.register('bench', [{ id: 'run', event: 'bench/run' }]);
      await stage.startWorker();
      // The first calls find programs that have not run yet.
      await agesOf(stage, 200);
      const { rounds, seconds } = bench.options;
      const all: number[][] = [];
      for (let round = 0; round < rounds; round++) all.push(await agesOf(stage, (LENGTH * seconds * 1_000) / PACE_MS));
      const row = { group, unit: 'ms', references: [] } as const;
      const at = (q: number) => median(all.map((ages) => quantile(ages, q)));
      return {
        rows: [
          { ...row, references: [], work: `${WORK}, p50`, value: at(0.5), targets: [{ most: 5 }] },
          { ...row, references: [], work: `${WORK}, p99`, value: at(0.99), targets: [{ most: 25 }] },
        ],
        costs: [],
        series: [],
      };
    }),
};

/** Of each event, how long after it was due to be sent its function was called. */
async function agesOf(stage: Stage, events: number): Promise<number[]> {
  await stage.host();
  const startedAt = now();
  const sends: Promise<void>[] = [];
  for (let n = 0; n < events; n++) {
    const send = stage.service.send({ name: 'bench/run', data: { sentAt: now() } });
    // Thrown below; until then it shall not end the process.
    send.catch(() => {});
    sends.push(send);
    // To the clock, so that a late timer does not slow the pace.
    await setTimeout(Math.max(0, startedAt + (n + 1) * PACE_MS - now()));
  }
  await Promise.all(sends);
  await stage.service.drained();
  const { ages } = await stage.host();
  if (ages.length !== events) throw new Error(`${events} events were sent and ${ages.length} calls came`);
  return ages;
}

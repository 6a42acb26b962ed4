/** Latency from sending an event to the call of its function, at 100 events/s. */
import { setTimeout } from 'node:timers/promises';
import type { Measurement } from '../bench.ts';
import { now } from '../count-calls.ts';
import type { HostReport } from '../host.ts';
import { median, quantile } from '../statistics.ts';
import type { TestBed } from '../test-bed.ts';

export const INTERVAL_MS = 10;
/** Rounds are longer than others by this factor. */
const ROUND_FACTOR = 2;
const WORK = `event received to function called, ${1_000 / INTERVAL_MS} events/s`;
const group = 'runs';

export const latency: Measurement = {
  group,
  names: [WORK],
  measure: (bench) =>
    bench.withTestBed({}, async (testBed) => {
      await testBed.service.register('bench', [{ id: 'run', event: 'bench/run' }]);
      await testBed.startWorker();
      // Warm-up.
      await plainCalls(testBed, 200);
      const { rounds, seconds } = bench.options;
      const all: number[][] = [];
      for (let round = 0; round < rounds; round++)
        all.push((await plainCalls(testBed, (ROUND_FACTOR * seconds * 1_000) / INTERVAL_MS)).ages);
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

/** Sends events of plain runs at a rate.
 *  @returns what the host saw meanwhile; `ages`: from when each event was due to the call of its function */
export async function plainCalls(testBed: TestBed, events: number, intervalMs = INTERVAL_MS): Promise<HostReport> {
  await testBed.host();
  const startedAt = now();
  const sends: Promise<void>[] = [];
  for (let n = 0; n < events; n++) {
    const send = testBed.service.send({ name: 'bench/run', data: { sentAt: now() } });
    // A rejection is thrown below; an unhandled one would end the process.
    send.catch(() => {});
    sends.push(send);
    // Relative to the start, so that a late timer does not lower the rate.
    await setTimeout(Math.max(0, startedAt + (n + 1) * intervalMs - now()));
  }
  await Promise.all(sends);
  await testBed.service.untilDrained();
  const report = await testBed.host();
  const calls = report.ages.length;
  if (calls !== events) throw new Error(`${events} events were sent and ${calls} calls came`);
  return report;
}

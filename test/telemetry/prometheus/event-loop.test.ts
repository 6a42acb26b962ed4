import { expect } from 'chai';
import { createProcessMetrics } from '../../../src/metrics/process-metrics.ts';
import { parse } from '../../support/scrape.ts';
import { until } from '../../support/until.ts';

const DELAY = 'tidegate_event_loop_delay_seconds';
const CPU_DELAY = 'tidegate_event_loop_delay_cpu_seconds';

describe('Event loop metrics', () => {
  for (const role of ['web', 'worker'] as const) {
    it(`of ${role} keep a stall and its CPU time in histograms across scrapes`, async () => {
      const instruments = createProcessMetrics(role);
      const read = async () => parse(await instruments.scrape());
      const over250Ms = async (name: string) => {
        const scraped = await read();
        return (scraped.value(`${name}_count`) ?? 0) - (scraped.value(`${name}_bucket`, { le: '0.25' }) ?? 0);
      };
      await until(async () => (await read()).value(`${DELAY}_count`), { describe: 'the event loop is checked' });
      const before = await over250Ms(CPU_DELAY);

      compute(300);

      const seen = async () => (await over250Ms(CPU_DELAY)) > before;
      await until(seen, { describe: 'the stall is recorded' });
      expect(await over250Ms(DELAY)).to.be.at.least(1);
      expect(await over250Ms(CPU_DELAY), 'a scrape does not reset it').to.equal(before + 1);
    });
  }
});

/** Uses this much CPU time of the thread, however busy the machine is. */
function compute(ms: number): void {
  const start = process.threadCpuUsage();
  for (
    let used = process.threadCpuUsage(start);
    (used.user + used.system) / 1_000 < ms;
    used = process.threadCpuUsage(start)
  )
    Math.random();
}

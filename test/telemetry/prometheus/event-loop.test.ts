import { expect } from 'chai';
import { createProcessMetrics } from '../../../src/metrics/process-metrics.ts';
import { parse } from '../../support/scrape.ts';
import { until } from '../../support/until.ts';

const DELAY = 'tidegate_event_loop_delay_seconds';
const COMPUTED = 'tidegate_event_loop_delay_cpu_seconds';

describe('the event loop, as metrics show it', () => {
  for (const role of ['web', 'worker'] as const) {
    it(`keeps a stall of ${role} in a histogram, and how much of it was computed, however many scrapes follow`, async () => {
      const instruments = createProcessMetrics(role);
      const read = async () => parse(await instruments.scrape());
      const over250Ms = async (name: string) => {
        const scraped = await read();
        return (scraped.value(`${name}_count`) ?? 0) - (scraped.value(`${name}_bucket`, { le: '0.25' }) ?? 0);
      };
      await until(async () => (await read()).value(`${DELAY}_count`), { describe: 'the loop is looked at' });
      const before = await over250Ms(COMPUTED);

      compute(300);

      const seen = async () => (await over250Ms(COMPUTED)) > before;
      await until(seen, { describe: 'the stall is seen' });
      expect(await over250Ms(DELAY)).to.be.at.least(1);
      expect(await over250Ms(COMPUTED), 'it does not forget').to.equal(before + 1);
    });
  }
});

/** Takes the thread for so much CPU time, however busy the machine is. */
function compute(ms: number): void {
  const start = process.threadCpuUsage();
  for (
    let used = process.threadCpuUsage(start);
    (used.user + used.system) / 1_000 < ms;
    used = process.threadCpuUsage(start)
  )
    Math.random();
}

import { expect } from 'chai';
import { COUNTED_FUNCTIONS_MAX, minuteIntervals } from '../../src/store/runs/run-histogram.ts';
import { openStore } from '../support/own-store.ts';

const DAY_MS = 86_400_000;

describe('Histograms of runs', () => {
  for (const partitions of [1, 32, 1_024]) {
    it(`cost a bounded number of commands on ${partitions} partitions, for any number of functions`, async () => {
      const store = await openStore(undefined, { PARTITIONS: String(partitions) });
      try {
        for (const functions of [undefined, 0, 1, COUNTED_FUNCTIONS_MAX, 1_000]) {
          const ids = functions === undefined ? undefined : Array.from({ length: functions }, (_, n) => `f${n}`);
          const { intervals, rangeMs } = store.runHistogram.bounds(ids);
          const isEach = ids && ids.length <= COUNTED_FUNCTIONS_MAX;
          const minutes = Math.min(7 * DAY_MS, rangeMs) / 60_000;
          const commands = isEach ? intervals * Math.max(1, ids.length) * 4 : minutes * 3;
          expect(commands * partitions).to.be.at.most(
            isEach ? Math.max(40_000, 4 * COUNTED_FUNCTIONS_MAX * partitions) : 150_000,
          );
        }
      } finally {
        await store.close();
      }
    });
  }

  it('have whole minutes that cover the time range', () => {
    const { from, stepMs, intervals } = minuteIntervals(90_000, 7 * DAY_MS + 1, 12);
    expect(from).to.equal(60_000);
    expect(stepMs % 60_000).to.equal(0);
    expect(intervals).to.be.at.most(13);
    expect(from + stepMs * intervals).to.be.at.least(7 * DAY_MS + 1);
  });
});

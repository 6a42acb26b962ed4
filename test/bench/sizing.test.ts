import { expect } from 'chai';
import type { Cost } from '../../bench/results.ts';
import { clusterFactor, type Load, maxRateOfOneRedis, sizeOf, storedBytes } from '../../bench/sizing.ts';

/** In CPU seconds per 1,000 units. */
const cost = (key: Cost['key'], web: number, worker: number, redis: number): Cost => ({
  key,
  work: key,
  perSecond: 1,
  cpu: { web, worker, transforms: 0, redis },
  redisInBytes: 500,
  redisOutBytes: 125,
});
const COSTS = [
  cost('single', 0.1, 0, 0.02),
  cost('ingest', 0, 0.02, 0.03),
  cost('run', 0, 0.3, 0.1),
  cost('step', 0, 0.2, 0.1),
];
const LOAD: Load = { eventsPerSecond: 1_000, source: 'single', runsPerEvent: 2, stepsPerRun: 0 };

describe('capacity planning', () => {
  it('adds up the costs of events and runs, with headroom for bursts', () => {
    const size = sizeOf(LOAD, COSTS);
    expect(size?.busy.web).to.be.closeTo(0.1, 1e-9);
    expect(size?.busy.worker).to.be.closeTo(0.62, 1e-9);
    expect(size?.busy.redis).to.be.closeTo(0.25, 1e-9);
    expect(size?.networkBits).to.equal(8 * 625 * 4_000);
    expect([size?.webs, size?.workers, size?.primaries]).to.deep.equal([1, 1, 1]);
    const ten = sizeOf({ ...LOAD, eventsPerSecond: 10_000 }, COSTS);
    expect([ten?.webs, ten?.workers, ten?.primaries, ten?.partitions]).to.deep.equal([2, 9, 4, 32]);
  });

  it('takes the extra cost of a cluster from the results, and gives each primary at least four partitions', () => {
    const row = (value: number) => ({
      group: 'cluster' as const,
      work: 'cluster: CPU of all processes per plain run, 32 partitions',
      value,
      unit: 'µs',
      references: [{ what: 'one Redis', value: 100 }],
      targets: [],
    });
    expect(clusterFactor([])).to.equal(1.25);
    expect(clusterFactor([row(110), row(90)])).to.equal(1.1);
    const size = sizeOf({ ...LOAD, eventsPerSecond: 100_000 }, COSTS, 1.2);
    expect([size?.primaries, size?.partitions]).to.deep.equal([43, 256]);
  });

  it('counts the steps of each run', () => {
    const size = sizeOf({ ...LOAD, stepsPerRun: 3 }, COSTS);
    expect(size?.busy.worker).to.be.closeTo(0.62 + 2 * 3 * 0.2, 1e-9);
  });

  it('returns undefined when a cost is missing', () => {
    expect(sizeOf({ ...LOAD, source: 'webhook' }, COSTS)).to.equal(undefined);
    expect(maxRateOfOneRedis({ ...LOAD, source: 'webhook' }, COSTS)).to.equal(undefined);
  });

  it('limits one Redis to the target utilization', () => {
    expect(maxRateOfOneRedis(LOAD, COSTS)).to.be.closeTo(2_800, 1e-6);
  });

  it('multiplies stored bytes by rate and retention', () => {
    const bytes = { eventPayload: 100, event: { memory: 400, file: 0 }, run: { memory: 300, file: 0 } };
    expect(storedBytes({ ...LOAD, eventsPerSecond: 10 }, 2, bytes)).to.equal(10 * 2 * 86_400 * 1_000);
  });
});

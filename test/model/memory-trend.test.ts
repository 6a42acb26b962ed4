import { expect } from 'chai';
import { MemoryTrend } from '../../src/model/capacity/memory-trend.ts';

const MIB = 1_048_576;
const SECOND = 1_000;

describe('MemoryTrend', () => {
  /** Samples every second. */
  const trendOf = (seconds: number, bytesAt: (second: number) => number) => {
    const trend = new MemoryTrend();
    for (let second = 0; second <= seconds; second++) trend.add(bytesAt(second), second * SECOND);
    return trend;
  };

  it('estimates how long memory will last at its present growth', () => {
    const trend = trendOf(60, (second) => 100 * MIB + second * MIB);
    expect(trend.msUntil(260 * MIB)).to.be.closeTo(100 * SECOND, 1);
  });

  it('follows the growth of the last five minutes, not of single seconds', () => {
    const noise = (second: number) => (second % 10 === 0 ? 5 * MIB : 0);
    const trend = trendOf(600, (second) => (second < 300 ? 0 : (second - 300) * MIB) + noise(second));
    expect(trend.msUntil(405 * MIB)).to.be.within(80 * SECOND, 125 * SECOND);
  });

  it('makes no estimate for memory that does not grow, nor too early', () => {
    expect(new MemoryTrend().msUntil(MIB)).to.equal(undefined);
    expect(trendOf(10, (second) => second * MIB).msUntil(100 * MIB)).to.equal(undefined);
    expect(trendOf(60, () => MIB).msUntil(2 * MIB)).to.equal(undefined);
    expect(trendOf(60, (second) => (100 - second) * MIB).msUntil(200 * MIB)).to.equal(undefined);
  });

  it('estimates 0 for memory that is used up', () => {
    expect(trendOf(60, () => 2 * MIB).msUntil(MIB)).to.equal(0);
  });
});

import { expect } from 'chai';
import { BUCKETS, bucketOf, quantile } from '../../src/model/capacity/histogram.ts';
import { percentiles } from '../../src/model/capacity/percentiles.ts';

function counted(values: number[]): number[] {
  const counts = new Array<number>(BUCKETS).fill(0);
  for (const value of values) counts[bucketOf(value)] = (counts[bucketOf(value)] as number) + 1;
  return counts;
}

describe('Latency histogram', () => {
  it('computes quantiles to within 10 %, from 0.25 ms to an hour', () => {
    for (const scale of [0.01, 1, 60, 3_600]) {
      const values = Array.from({ length: 1_000 }, (_, i) => 0.3 + (i + 1) * scale);
      for (const share of [0.5, 0.95, 0.99]) {
        const exact = values[Math.ceil(share * values.length) - 1] as number;
        expect(quantile(counted(values), share), `${scale} ${share}`).to.be.closeTo(exact, exact / 10);
      }
    }
  });

  it('handles no values, values below the first bucket and above the last', () => {
    expect(quantile(counted([]), 0.5)).to.equal(undefined);
    expect(quantile(counted([0]), 0.5)).to.be.within(0, 0.25);
    expect(quantile(counted([1e12]), 0.5)).to.be.greaterThan(3_600_000);
  });
});

describe('Percentiles of durations', () => {
  const all = (values: readonly number[]) => {
    const durations = new Map<number, number>();
    for (const ms of values) durations.set(bucketOf(ms), (durations.get(bucketOf(ms)) ?? 0) + 1);
    return durations;
  };
  const recent = (values: readonly number[], at = 50) => values.map((ms) => ({ at, ms }));

  it('are exact for fewer than 20 values', () => {
    expect(percentiles(all([27_100]), recent([27_100]), 0, 100)).to.deep.equal([27_100, 27_100, 27_100]);
    const values = Array.from({ length: 19 }, (_, i) => (19 - i) * 10);
    expect(percentiles(all(values), recent(values), 0, 100)).to.deep.equal([100, 190, 190]);
  });

  it('cover only the time range, whatever else was measured recently', () => {
    const others = [...recent([1, 2], 100), ...recent([3], 49)];
    expect(percentiles(all([500, 700]), [...others, ...recent([700, 500])], 50, 100)).to.deep.equal([500, 700, 700]);
  });

  it('are estimates for 20 values or more, and if single durations are missing', () => {
    const values = Array.from({ length: 20 }, () => 1_000);
    for (const known of [recent(values.slice(1)), []]) {
      const [p50] = percentiles(all(values), known, 0, 100) ?? [0];
      expect(p50).to.be.closeTo(1_000, 100).and.not.equal(1_000);
    }
    expect(percentiles(all([]), recent([1]), 60, 100)).to.equal(undefined);
  });
});

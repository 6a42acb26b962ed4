import { expect } from 'chai';
import { BUCKETS, bucketOf, quantile } from '../../src/model/capacity/histogram.ts';

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

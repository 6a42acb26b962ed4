import { expect } from 'chai';
import { between, median, type Point, quantile, slope } from '../../bench/statistics.ts';
import { outcomeOf } from '../../bench/wrk.ts';

describe("the benchmark's figures", () => {
  it('have medians, of an even count between the two in the middle', () => {
    expect(median([3, 1, 2])).to.equal(2);
    expect(median([4, 1, 3, 2])).to.equal(2.5);
  });

  it('have quantiles by nearest rank: of a hundred, the p99 is the last but one', () => {
    const hundred = Array.from({ length: 100 }, (_, i) => 100 - i);
    expect([0, 0.5, 0.99, 1].map((q) => quantile(hundred, q))).to.deep.equal([1, 50, 99, 100]);
  });

  it('have slopes that outliers do not move', () => {
    const flat = Array.from({ length: 60 }, (_, i): Point => [i, i % 20 === 7 ? 500 : 100]);
    const growing = flat.map(([at, value]): Point => [at, value + 2 * at]);
    expect(slope(flat)).to.equal(0);
    expect(slope(growing)).to.be.closeTo(2, 0.05);
    expect(slope([[0, 1]])).to.equal(0);
  });

  it('are cut by shares of their time', () => {
    const points = [0, 1, 2, 3, 4].map((at): Point => [at, at]);
    expect(between(points, 0.5, 1).map(([at]) => at)).to.deep.equal([2, 3, 4]);
  });

  it('are not taken from wrk when it met errors, or reached nothing', () => {
    const output = '  5000 requests in 1.00s, 1MB read\nRequests/sec:   4998.5\n';
    expect(outcomeOf(output)).to.deep.equal({ requests: 5_000, perSecond: 4_998.5 });
    expect(() => outcomeOf(`${output}  Non-2xx or 3xx responses: 3\n`)).to.throw('met errors');
    expect(() => outcomeOf('unable to connect')).to.throw('reached nothing');
  });
});

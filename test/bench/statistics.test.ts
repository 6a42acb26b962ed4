import { expect } from 'chai';
import { between, median, type Point, quantile, slope } from '../../bench/statistics.ts';
import { parseOutput } from '../../bench/wrk.ts';

describe('benchmark statistics', () => {
  it('median: the middle value, or the mean of the two in the middle', () => {
    expect(median([3, 1, 2])).to.equal(2);
    expect(median([4, 1, 3, 2])).to.equal(2.5);
  });

  it('quantile: nearest rank', () => {
    const hundred = Array.from({ length: 100 }, (_, i) => 100 - i);
    expect([0, 0.5, 0.99, 1].map((q) => quantile(hundred, q))).to.deep.equal([1, 50, 99, 100]);
  });

  it('slope: outliers do not move it', () => {
    const flat = Array.from({ length: 60 }, (_, i): Point => [i, i % 20 === 7 ? 500 : 100]);
    const growing = flat.map(([at, value]): Point => [at, value + 2 * at]);
    expect(slope(flat)).to.equal(0);
    expect(slope(growing)).to.be.closeTo(2, 0.05);
    expect(slope([[0, 1]])).to.equal(0);
  });

  it('between: cuts a series by fractions of its duration', () => {
    const points = [0, 1, 2, 3, 4].map((at): Point => [at, at]);
    expect(between(points, 0.5, 1).map(([at]) => at)).to.deep.equal([2, 3, 4]);
  });

  it('parseOutput: rejects the output of wrk with errors or without requests', () => {
    const output = '  5000 requests in 1.00s, 1MB read\nRequests/sec:   4998.5\n';
    expect(parseOutput(output)).to.deep.equal({ requests: 5_000, perSecond: 4_998.5 });
    expect(() => parseOutput(`${output}  Non-2xx or 3xx responses: 3\n`)).to.throw('reported errors');
    expect(() => parseOutput('unable to connect')).to.throw('sent no requests');
  });
});

import { expect } from 'chai';
import fc from 'fast-check';
import { orderTextOf } from '../../src/model/flow-control/order-text.ts';

const compared = (a: unknown, b: unknown): number => {
  const [first = '', second = ''] = [orderTextOf(a), orderTextOf(b)];
  return first < second ? -1 : Number(first > second);
};
const sorted = (values: unknown[]) => [...values].sort(compared);
const sign = (difference: number | bigint) => (difference < 0 ? -1 : Number(difference > 0));
/** Pre-releases of https://semver.org/#spec-item-11, in order. */
const PRE_RELEASES = ['alpha', 'alpha.1', 'alpha.beta', 'beta', 'beta.2', 'beta.11', 'rc.1', 'rc-a'];

describe('The text of an order value', () => {
  it('sorts numbers as numbers', () => {
    const number = fc.oneof(
      fc.integer(),
      fc.maxSafeInteger(),
      fc.integer({ min: -1e6, max: 1e6 }).map((n) => n / 1_000),
    );
    fc.assert(fc.property(number, number, (a, b) => compared(a, b) === sign(a - b)));
    fc.assert(fc.property(fc.bigInt(), fc.bigInt(), (a, b) => compared(String(a), b) === sign(a - b)));
    expect(sorted([10, 9, -1.5, -1, 0, 1e300, -1e300])).to.deep.equal([-1e300, -1.5, -1, 0, 9, 10, 1e300]);
  });

  it('sorts times as moments, to the last digit and in any zone', () => {
    const time = fc.date({ noInvalidDate: true, min: new Date(0), max: new Date('2100-01-01') });
    fc.assert(fc.property(time, time, (a, b) => compared(a.toISOString(), b.toISOString()) === sign(+a - +b)));
    const times = ['2026-11-29T06:00:00.123456Z', '2026-11-29T07:00:00.1234565+01:00', '2026-11-29T06:00:00.1235Z'];
    expect(sorted(times.toReversed())).to.deep.equal(times);
    expect(compared('2026-11-29', '2026-11-29T00:00:00Z')).to.equal(0);
    expect(compared('2026-11-29T00:00:00Z', Date.UTC(2026, 10, 29) / 1_000)).to.equal(0);
  });

  it('sorts versions part by part, and pre-releases before their version', () => {
    const parts = fc.array(fc.nat(), { minLength: 1, maxLength: 4 });
    const order = (a: number[], b: number[]) => {
      const at = a.findIndex((part, i) => part !== b[i]);
      return at === -1 ? sign(a.length - b.length) : sign((a[at] as number) - (b[at] ?? -1));
    };
    fc.assert(fc.property(parts, parts, (a, b) => compared(a.join('.'), b.join('.')) === order(a, b)));
    const versions = ['1.2', ...PRE_RELEASES.map((name) => `1.10.0-${name}`), 'v1.10.0+build', '1.10.2', '2'];
    expect(sorted(versions.toReversed())).to.deep.equal(versions);
  });

  it('does not exist for anything else', () => {
    const values = [undefined, null, true, {}, [], '', 'x', '1e5', '1..2', '2026-13-40', Number.NaN, '1'.repeat(101)];
    expect(values.map(orderTextOf)).to.deep.equal(values.map(() => undefined));
    fc.assert(fc.property(fc.anything(), (value) => /^[!-~]{1,400}$/.test(orderTextOf(value) ?? '!')));
  });
});

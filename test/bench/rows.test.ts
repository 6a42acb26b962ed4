import { expect } from 'chai';
import { meetsTargets, type Row } from '../../bench/row.ts';
import { tableOf } from '../../bench/table.ts';

const row = (more: Partial<Row>): Row => ({
  group: 'runs',
  work: 'plain runs',
  value: 3_000,
  unit: 'runs/s',
  references: [{ what: 'a bare loop', value: 5_000 }],
  targets: [],
  ...more,
});

describe('a row of the benchmark', () => {
  it('passes only when it meets all of its targets', () => {
    const share = { share: 0.5, of: 'a bare loop' };
    expect(meetsTargets(row({ targets: [{ least: 3_000 }, share] }))).to.equal(true);
    expect(meetsTargets(row({ targets: [{ least: 3_001 }, share] }))).to.equal(false);
    expect(meetsTargets(row({ targets: [{ least: 3_000 }, { share: 0.61, of: 'a bare loop' }] }))).to.equal(false);
    expect(meetsTargets(row({ targets: [{ most: 2_999 }] }))).to.equal(false);
  });

  it('misses its targets with NaN or without the reference', () => {
    expect(meetsTargets(row({ targets: [{ share: 0.1, of: 'another loop' }] }))).to.equal(false);
    expect(meetsTargets(row({ value: Number.NaN, targets: [{ most: 10 }] }))).to.equal(false);
  });

  it('is informational without targets', () => {
    expect(meetsTargets(row({}))).to.equal(undefined);
    expect(tableOf([row({})])).to.match(/\| 3,000 runs\/s \| 60 % of a bare loop \(5,000\) \| {2}\|$/);
  });

  it('is marked in the table when it misses a target', () => {
    const missed = row({ targets: [{ least: 4_000 }, { share: 0.5, of: 'a bare loop' }] });
    expect(tableOf([missed])).to.match(/\| \*\*missed\*\*: at least 4,000 runs\/s, 50 % \|$/);
  });

  it('names what its target is a share of where it is compared with several things', () => {
    const references = ['a bare loop', 'an echo'].map((what) => ({ what, value: 5_000 }));
    const shown = tableOf([row({ references, targets: [{ share: 0.5, of: 'an echo' }] })]);
    expect(shown).to.match(/\| 50 % of an echo \|$/);
  });

  it('is shown without a prefix that all rows of its table have', () => {
    const rows = ['cluster: runs, one', 'cluster: runs, two'].map((work) => row({ work }));
    expect(tableOf(rows).match(/^\| (one|two) \|/gm)).to.have.length(2);
    expect(tableOf([row({ work: 'cluster: runs, one' })])).to.include('| cluster: runs, one |');
  });

  it('is shown with its p50 if it has a p99 and no target of its own', () => {
    const p50 = row({ work: 'read, p50', value: 2, unit: 'ms', references: [] });
    const p99 = row({ work: 'read, p99', value: 9, unit: 'ms', references: [] });
    const lines = (...rows: Row[]) => tableOf(rows).split('\n').slice(2);
    expect(lines(p50, p99)).to.deep.equal(['| read, p50 | 2.0 ms (p99 9.0 ms) |  |  |']);
    expect(lines(p50, { ...p99, targets: [{ most: 10 }] })).to.have.length(2);
  });
});

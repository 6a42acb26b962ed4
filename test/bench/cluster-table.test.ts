import { expect } from 'chai';
import { clusterTable } from '../../bench/cluster-table.ts';
import type { Row } from '../../bench/row.ts';

const rowOf = (work: string, value: number, more: Partial<Row>): Row => ({
  group: 'cluster',
  work,
  value,
  unit: 'µs',
  references: [],
  targets: [],
  ...more,
});

describe('The table of the cluster', () => {
  it('has a line for each measurement and a column for each layout, and says what missed its target', () => {
    const references = [{ what: 'one Redis', value: 100 }];
    const targets = [{ times: 1.25, of: 'one Redis' }];
    const rows = [
      rowOf('cluster: CPU per event, 8 partitions', 130, { references, targets }),
      rowOf('cluster: CPU per event, 32 partitions, a replica each', 120, { references }),
      rowOf('cluster: events, 32 connections, 32 partitions, a replica each, fsync', 7, {
        unit: 'events/s',
        references: [{ what: '32 partitions, a replica each', value: 10 }],
      }),
    ];
    expect(clusterTable(rows)?.split('\n')).to.deep.equal([
      '| workload | one Redis | 8 partitions | 32 partitions, a replica each | 32 partitions, a replica each, fsync | target |',
      '| --- | --- | --- | --- | --- | --- |',
      '| CPU per event | 100 µs | 130 µs (130 %), **missed** | 120 µs (120 %) |  | at most 1.25 ×: 8 partitions |',
      '| events, 32 connections |  |  |  | 7.0 events/s (70 % of 10.0) |  |',
    ]);
  });

  it('is absent without rows of the cluster', () => {
    expect(clusterTable([rowOf('one Redis', 1, {})])).to.equal(undefined);
  });
});

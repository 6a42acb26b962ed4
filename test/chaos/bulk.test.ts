import { expect } from 'chai';
import { compareCancelled, compareReruns } from '../../chaos/checks/bulk.ts';
import type { BulkActionView } from '../../chaos/load/bulk-work.ts';

const action = (id: string, kind: string, done: number): BulkActionView => ({
  ...{ id, action: kind, status: 'done' },
  progress: { done, skipped: {} },
});
const run = (run_id: string, retry_of: string | null, by?: string) => ({
  ...{ run_id, retry_of, status: 'Completed' },
  cancel_reason: by === undefined ? null : { id: by },
});

describe('scripts/chaos', () => {
  it('finds re-runs that a bulk action missed, repeated or miscounted', () => {
    const results = new Map([
      [
        'b',
        [
          { run_id: '1', rerun_id: 'r1' },
          { run_id: '2', rerun_id: null },
        ],
      ],
    ]);
    const one = [action('b', 'retry', 1)];
    expect(compareReruns(one, results, [run('1', null), run('r1', '1')])).to.deep.equal([]);
    expect(compareReruns(one, results, [run('1', null)])).to.have.length(1);
    expect(compareReruns(one, results, [run('r1', '1'), run('r2', '1')])).to.have.length(1);
    expect(compareReruns([action('b', 'retry', 2)], results, [run('r1', '1')])).to.have.length(1);
  });

  it('finds cancelled runs that a bulk action miscounted', () => {
    const runs = [run('1', null, 'b'), run('2', null, 'b'), run('3', null)];
    expect(compareCancelled([action('b', 'cancel', 2)], runs)).to.deep.equal([]);
    expect(compareCancelled([action('b', 'cancel', 3)], runs)).to.have.length(1);
  });
});

import { expect } from 'chai';
import type { EventRow } from '../../dashboard/src/pages/events/list/pages.ts';
import { countBeside, NONE, together } from '../../dashboard/src/pages/events/list/waiting.ts';

const rowOf = (internal_id: string): EventRow => ({
  internal_id,
  name: 'order/placed',
  received_at: '2026-01-01T00:00:00.000Z',
  source: 'event-key:depot',
  duplicates: 0,
  runs: [],
});

describe('the count of new events that are not shown', () => {
  it('leaves out those that are listed already', () => {
    const waiting = together(together(NONE, { ids: ['A', 'B'], others: 0 }), { ids: ['C'], others: 5 });
    expect(countBeside([rowOf('B'), rowOf('0')], waiting)).to.equal(7);
  });

  it('counts on when it no longer knows the IDs of the first', () => {
    const ids = Array.from({ length: 1_500 }, (_, n) => String(n));
    const waiting = together({ ids, others: 0 }, { ids: ['last'], others: 0 });
    expect(countBeside([rowOf('last')], waiting)).to.equal(1_500);
  });
});

import { expect } from 'chai';
import type { EventRow } from '../../dashboard/src/pages/events/list/event-pages.ts';
import { countUnseen, mergeUnseen, NONE } from '../../dashboard/src/pages/events/list/unseen-events.ts';

const rowOf = (internal_id: string): EventRow => ({
  internal_id,
  name: 'order/placed',
  received_at: '2026-01-01T00:00:00.000Z',
  source: 'event-key:depot',
  duplicates: 0,
  runs: [],
});

describe('dashboard: count of unseen events', () => {
  it('excludes events that are already listed', () => {
    const waiting = mergeUnseen(mergeUnseen(NONE, { ids: ['A', 'B'], others: 0 }), { ids: ['C'], others: 5 });
    expect(countUnseen([rowOf('B'), rowOf('0')], waiting)).to.equal(7);
  });

  it('counts events beyond the number of remembered IDs', () => {
    const ids = Array.from({ length: 1_500 }, (_, n) => String(n));
    const waiting = mergeUnseen({ ids, others: 0 }, { ids: ['last'], others: 0 });
    expect(countUnseen([rowOf('last')], waiting)).to.equal(1_500);
  });
});

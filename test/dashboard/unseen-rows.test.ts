import { expect } from 'chai';
import { countUnseen, mergeUnseen, NONE } from '../../dashboard/src/lib/unseen-rows.ts';

const some = (ids: string[], others: number) => ({ ids, others, more: false });

describe('The count of unseen rows', () => {
  it('excludes rows that are already listed', () => {
    const waiting = mergeUnseen(mergeUnseen(NONE, some(['A', 'B'], 0)), some(['C'], 5));
    expect(countUnseen(['B', '0'], waiting)).to.equal(7);
  });

  it('counts rows beyond the number of remembered IDs', () => {
    const ids = Array.from({ length: 1_500 }, (_, n) => String(n));
    const waiting = mergeUnseen(some(ids, 0), some(['last'], 0));
    expect(countUnseen(['last'], waiting)).to.equal(1_500);
  });
});

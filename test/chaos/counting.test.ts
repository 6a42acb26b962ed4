import { expect } from 'chai';
import { Random } from '../../chaos/random.ts';

describe('scripts/chaos', () => {
  it('picks the same items for the same seed and others for another', () => {
    const sequence = (seed: number) => {
      const random = new Random(seed);
      return Array.from({ length: 20 }, () => random.pick(['a', 'b', 'c', 'd']));
    };
    expect(sequence(7)).to.deep.equal(sequence(7));
    expect(sequence(7)).to.not.deep.equal(sequence(8));
  });
});

import { expect } from 'chai';
import { matchOf } from '../../dashboard/src/app/palette/match.ts';

describe('The command palette finds', () => {
  it('entries whose label or other words have every word of the query, in any order', () => {
    expect(matchOf('log audit', 'Audit log', [])).to.be.greaterThan(0);
    expect(matchOf('A7', 'order/placed · 01KE7', ['A7'])).to.be.greaterThan(0);
    expect(matchOf('', 'Audit log', [])).to.be.greaterThan(0);
  });

  it('none whose letters are merely somewhere in the label', () => {
    expect(matchOf('cancel', 'Pause function Charge a card', [])).to.equal(0);
    expect(matchOf('rotate', 'Pause function Reserve orders at', [])).to.equal(0);
  });

  it('labels that begin with the query before those in which a word does, and both before others', () => {
    const scores = ['Audit log', 'The audit log', 'Reaudit'].map((label) => matchOf('audit', label, []));
    expect(scores).to.deep.equal(scores.toSorted((a, b) => b - a));
    expect(new Set(scores).size).to.equal(3);
  });
});

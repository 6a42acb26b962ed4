import { expect } from 'chai';
import { decisionOf, decisions } from '../../scripts/lib/decision-docs.ts';

describe('docs/decisions', () => {
  it('begin with a title, a date, a status and a topic, and are numbered without gaps', () => {
    const numbers = decisions().map(({ file }) => Number(file.slice(0, 4)));
    expect(numbers).to.deep.equal(numbers.map((_, index) => index + 1));
    expect(numbers).to.have.length.greaterThan(20);
  });

  it('name only later, existing decisions as what changed them', () => {
    const all = new Map(decisions().map((decision) => [decision.file, decision]));
    for (const { file, status } of all.values()) {
      for (const [, number, later = ''] of status.matchAll(/\[(\d+)\]\(([^)]+)\)/g)) {
        expect(all.has(later), `${file}: ${later}`).to.equal(true);
        expect(Number(later.slice(0, 4)), file).to.equal(Number(number));
        expect(later > file, `${file} cannot be changed by the earlier ${later}`).to.equal(true);
      }
    }
  });

  it('are rejected with what is missing if their head has another form', () => {
    for (const text of ['# A\n\nText.', '# A\n\n- Date: yesterday\n- Status: accepted\n- Topic: B\n\n', ''])
      expect(() => decisionOf('0001-index-entry-last.md', text), text).to.throw(
        'must begin with its title, then "- Date: "',
      );
    const undecided = '# A\n\n- Date: 2026-11-21\n- Status: proposed\n- Topic: B\n\nText.';
    expect(() => decisionOf('0001-index-entry-last.md', undecided)).to.throw('docs/decisions/0001-index-entry-last.md');
  });
});

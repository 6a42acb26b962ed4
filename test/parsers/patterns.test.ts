import { expect } from 'chai';
import { attacksOn, readList, readPatterns } from './patterns.ts';

/** A new version of the checker checks all patterns, for minutes on a busy machine. */
const LONG_MS = 600_000;

describe('Regular expressions of src/', () => {
  it('match any text in linear time', () => {
    const patterns = readPatterns();
    // scripts/test --all takes no word for it.
    const known = process.env.TEST_ALL ? new Map<string, boolean>() : readList();
    const attacks = attacksOn([...patterns.keys()].filter((pattern) => !known.get(pattern)));
    const slow = [...attacks].map(([pattern, attack]) => `${patterns.get(pattern)?.join(', ')} ${pattern}: ${attack}`);
    expect(slow, 'each of these goes back and forth').to.deep.equal([]);
  }).timeout(LONG_MS);

  it('that have been checked, and no others, are in the list of safe ones', () => {
    const patterns = readPatterns();
    const gone = [...readList().keys()].filter((pattern) => !patterns.has(pattern));
    expect(gone, 'node test/parsers/patterns.ts removes them from safe-patterns.txt').to.deep.equal([]);
  });
});

import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { WRITES_OF, WRITES_OF_FAILURE } from '../../src/jobs/runs/calls/call-decision.ts';
import { WRITES_OF_END } from '../../src/jobs/runs/ends/end-writes.ts';

const ROW = /^\| `(\w+)` \|[^|]*\|([^|]*)\|$/gm;

/** Names and writes of the rows between two texts. */
function listedBetween(start: string, end: string): Record<string, string[]> {
  const text = readFileSync('docs/internals.md', 'utf8');
  const section = text.slice(text.indexOf(start), text.indexOf(end));
  const rows = [...section.matchAll(ROW)].map(([, name = '', writes = '']) => {
    return [name, [...writes.matchAll(/`(\w+)`/g)].map(([, write = '']) => write)] as const;
  });
  return Object.fromEntries(rows);
}

describe('docs/internals.md', () => {
  it('lists the writes of each decision about a call in their order', () => {
    const listed = listedBetween('| Decision | When |', '`operations` stores');
    expect(listed).to.deep.equal({ ...WRITES_OF, ...WRITES_OF_FAILURE });
  });

  it('lists the writes of each end of a run in their order', () => {
    expect(listedBetween('| Transition | When |', 'More of `src/jobs/runs/`')).to.deep.equal(WRITES_OF_END);
  });
});

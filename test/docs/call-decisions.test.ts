import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { WRITES_OF, WRITES_OF_FAILURE } from '../../src/jobs/runs/call-decision.ts';

const ROW = /^\| `(\w+)` \|[^|]*\|([^|]*)\|$/gm;

describe('docs/internals.md', () => {
  it('lists the writes of each decision about a call in their order', () => {
    const text = readFileSync('docs/internals.md', 'utf8');
    const section = text.slice(text.indexOf('| Decision | When |'), text.indexOf('`operations` stores'));
    const listed = [...section.matchAll(ROW)].map(([, decision, writes = '']) => [
      decision,
      [...writes.matchAll(/`(\w+)`/g)].map(([, write]) => write),
    ]);
    expect(Object.fromEntries(listed)).to.deep.equal({ ...WRITES_OF, ...WRITES_OF_FAILURE });
  });
});

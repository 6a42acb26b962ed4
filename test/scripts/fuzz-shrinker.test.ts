import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import type { HttpCase } from '../../fuzz/case.ts';
import { saveToCorpus } from '../../fuzz/corpus.ts';
import { caseOf, shrinkCase } from '../../fuzz/generate.ts';

const cases: fc.Arbitrary<HttpCase> = fc.record({
  kind: fc.constant('http' as const),
  area: fc.constant('test'),
  method: fc.constantFrom('GET', 'POST'),
  target: fc
    .array(fc.constantFrom('a', 'b', '!'), { minLength: 10, maxLength: 40 })
    .map((parts) => `/${parts.join('')}`),
  headers: fc.array(fc.tuple(fc.constantFrom('x-a', 'x-b'), fc.string()), { maxLength: 5 }),
});
const SEED = 3;
const fails = async (one: unknown) => (one as HttpCase).target.includes('!');
/** One of the seed that fails, and is not small. */
const NUMBER = Array.from({ length: 100 }, (_, n) => n).find((n) => {
  const { target, headers } = caseOf(cases, SEED, n) as HttpCase;
  return target.includes('!') && target.length > 20 && headers.length > 2;
}) as number;

describe('A case that scripts/fuzz finds', () => {
  it('is always the same for its seed and number, and differs for other numbers', () => {
    expect(caseOf(cases, SEED, NUMBER)).to.deep.equal(caseOf(cases, SEED, NUMBER));
    const all = new Set(Array.from({ length: 50 }, (_, n) => JSON.stringify(caseOf(cases, SEED, n))));
    expect(all.size).to.equal(50);
  });

  it('is made as small as possible while it still fails', async () => {
    const small = (await shrinkCase(cases, SEED, NUMBER, fails)) as HttpCase;
    expect(small.target)
      .to.match(/^\/a*!a*$/)
      .and.to.have.lengthOf(11);
    expect([small.method, small.headers]).to.deep.equal(['GET', []]);
  });

  it('stays unchanged when it does not fail again', async () => {
    expect(await shrinkCase(cases, SEED, NUMBER, async () => false)).to.deep.equal(caseOf(cases, SEED, NUMBER));
  });

  it('is tried 200 times at most', async () => {
    let asked = 0;
    const hard = async (one: unknown) => ++asked > 0 && (await fails(one));
    await shrinkCase(cases, SEED, NUMBER, hard);
    expect(asked).to.be.at.most(200);
  });

  it('is saved once, next to earlier findings', () => {
    const folder = mkdtempSync(join(tmpdir(), 'corpus-'));
    try {
      const [one, other] = [NUMBER, NUMBER + 1].map((n) => ({ title: 'it fails', case: caseOf(cases, SEED, n) }));
      expect(saveToCorpus([one as never, one as never], folder).added).to.equal(1);
      const { added, file } = saveToCorpus([one as never, other as never], folder);
      expect(added).to.equal(1);
      expect(JSON.parse(readFileSync(file, 'utf8'))).to.deep.equal([one, other]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

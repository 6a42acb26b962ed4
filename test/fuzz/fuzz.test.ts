import { expect } from 'chai';
import { fuzz, type Report } from '../../fuzz/fuzz.ts';
import { failuresOf, findingText, summary } from '../../fuzz/report.ts';

/** Another of every run would make a failure nobody's; `scripts/fuzz` takes others. */
const SEED = 12;
/** scripts/test --all runs the long form. */
const CASES = process.env.TEST_ALL ? 20_000 : 2_000;

describe('scripts/fuzz, in short', function () {
  this.timeout(process.env.TEST_ALL ? 3_600_000 : 600_000);
  let report: Report;
  before(async () => {
    report = await fuzz({ seed: SEED, cases: CASES });
    console.log(summary(report).replace(/^/gm, '    '));
  });

  it('finds no crash, no unintended 5xx and no stalled event loop with the corpus and thousands of hostile requests', () => {
    const found = report.findings.map(findingText);
    expect(found, `${found.join('\n\n')}\n\nAgain: scripts/fuzz --seed ${SEED} --cases ${CASES}\n`).to.be.empty;
    expect(report.cases).to.be.at.least(CASES);
  });

  it('leaves the service accepting events of another sender, without growing memory', () => {
    // What the other sender waits is measured by scripts/fuzz alone: it takes longer, and a machine with nothing else to do.
    const failures = failuresOf(report);
    expect(failures, failures.join('\n')).to.be.empty;
  });
});

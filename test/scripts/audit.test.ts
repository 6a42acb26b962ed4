import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type AuditReport, askRegistry, problemsIn } from '../../scripts/lib/audit.ts';

const advisory = (id: string, severity: string) => ({
  name: 'left-pad',
  title: 'Pads too much',
  url: `https://github.com/advisories/${id}`,
  severity,
});
const REPORT: AuditReport = {
  vulnerabilities: {
    'left-pad': { via: [advisory('GHSA-high', 'high'), advisory('GHSA-low', 'low')] },
    // Through another: told once, where it is.
    'right-pad': { via: ['left-pad'] },
  },
};

describe('The audit of dependencies', () => {
  it('says that it did not run, and why, when the registry serves no advisories', () => {
    const folder = mkdtempSync(join(tmpdir(), 'tidegate-audit-'));
    const npm = join(folder, 'npm');
    const respondingWith = (json: string) => {
      writeFileSync(npm, `#!/bin/sh\necho '${json}'\nexit 1\n`, { mode: 0o755 });
      return askRegistry(npm);
    };
    try {
      expect(respondingWith('{"message":"405 Method Not Allowed"}')).to.match(
        /^NOT CHECKED: .+\(405 Method Not Allowed\)/,
      );
      expect(respondingWith('')).to.match(/^NOT CHECKED: .+\(no response\)/);
      expect(respondingWith(JSON.stringify(REPORT))).to.deep.equal(REPORT);
      expect(askRegistry(join(folder, 'missing'))).to.match(/^NOT CHECKED: .+ENOENT/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('fails only on a serious advisory, and names it', () => {
    const problems = problemsIn(REPORT, [], '2026-11-22');
    expect(problems).to.have.lengthOf(1);
    expect(problems[0]).to.match(/^GHSA-high \(high\) in left-pad: Pads too much/);
    expect(problemsIn({ vulnerabilities: {} }, [], '2026-11-22')).to.be.empty;
  });

  it('ignores an allowed advisory until the given day, and then asks for another review', () => {
    const allowed = [{ advisory: 'GHSA-high', reason: 'nothing is padded', expires: '2026-12-31' }];
    expect(problemsIn(REPORT, allowed, '2026-12-31')).to.be.empty;
    const over = problemsIn(REPORT, allowed, '2027-01-01');
    expect(over).to.have.lengthOf(2);
    expect(over[1]).to.include('GHSA-high was allowed until 2026-12-31 (nothing is padded)');
  });
});

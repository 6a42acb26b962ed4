import { expect } from 'chai';
import { restAfter } from '../../src/jobs/what-if/pacing.ts';

describe('The rest of a what-if after a group of calls', () => {
  const group = { tookMs: 20, leftMs: 2_000, hasBacklog: false };

  it('leaves three quarters of the time to production', () => {
    expect(restAfter(group)).to.deep.equal({ restMs: 60, endsPortion: false });
  });

  it('does not punish a candidate that responds slowly: a rest has a bound', () => {
    expect(restAfter({ ...group, tookMs: 5_000 })).to.deep.equal({ restMs: 1_000, endsPortion: false });
  });

  it('ends the portion when the service has a backlog, or when no time is left after the rest', () => {
    expect(restAfter({ ...group, hasBacklog: true })).to.deep.equal({ restMs: 60, endsPortion: true });
    expect(restAfter({ ...group, leftMs: 60 })).to.deep.equal({ restMs: 60, endsPortion: true });
    expect(restAfter({ ...group, leftMs: 61 }).endsPortion).to.equal(false);
  });
});

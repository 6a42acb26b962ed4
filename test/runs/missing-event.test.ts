import { expect } from 'chai';
import { mayArrive } from '../../src/jobs/runs/calls/missing-event.ts';

describe('A missing event', () => {
  const MINUTE_MS = 60_000;
  it('may arrive in the first two minutes of its run, but not of a re-run', () => {
    expect(mayArrive({ queuedAt: 0 }, MINUTE_MS)).to.equal(true);
    expect(mayArrive({ queuedAt: 0 }, 2 * MINUTE_MS)).to.equal(false);
    expect(mayArrive({ queuedAt: 0, retryOf: 'another' }, 0)).to.equal(false);
  });
});

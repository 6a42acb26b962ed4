import { expect } from 'chai';
import { retryAfterMs, retryDelayMs } from '../../src/model/runs/retry.ts';

describe('Retry schedule', () => {
  it('waits 15 s, 30 s, 1 min, … up to two hours, without jitter at random 0', () => {
    const seconds = Array.from({ length: 12 }, (_, i) => retryDelayMs(i + 1, 0, 1) / 1_000);
    expect(seconds).to.deep.equal([15, 30, 60, 120, 300, 600, 1_200, 2_400, 3_600, 7_200, 7_200, 7_200]);
  });

  it('adds up to 30 s of jitter, and scales the total', () => {
    expect(retryDelayMs(1, 0.5, 1)).to.equal(30_000);
    expect(retryDelayMs(1, 0.5, 0.001)).to.equal(30);
  });

  it('reads seconds or a date from retry-after, clamped to 1 s to 24 h', () => {
    const now = Date.parse('2026-01-01T00:00:00Z');
    expect(retryAfterMs('7', now)).to.equal(7_000);
    expect(retryAfterMs('0', now)).to.equal(1_000);
    expect(retryAfterMs('999999', now)).to.equal(86_400_000);
    expect(retryAfterMs('Thu, 01 Jan 2026 00:01:00 GMT', now)).to.equal(60_000);
    expect(retryAfterMs('soon', now)).to.equal(undefined);
  });
});

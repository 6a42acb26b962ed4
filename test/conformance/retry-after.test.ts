import { expect } from 'chai';
import { RETRY_AFTER_MAX_MS, RETRY_AFTER_MIN_MS, retryAfterMs } from '../../src/model/runs/retry.ts';
import { eachCase } from './cases.ts';

interface Case {
  title: string;
  header: string | null;
  now: string;
  delay_ms: number | null;
}

describe('The service conforms: retry-after', () => {
  eachCase<Case>(
    'retry-after',
    { header: true, now: true, delay_ms: true },
    ({ header, now, delay_ms }) => {
      const held = delay_ms === null ? undefined : Math.min(Math.max(delay_ms, RETRY_AFTER_MIN_MS), RETRY_AFTER_MAX_MS);
      expect(retryAfterMs(header as string, Date.parse(now))).to.equal(held);
    },
    ({ header }) => header !== null,
  );
});

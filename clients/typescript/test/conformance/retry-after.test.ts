import { expect } from 'chai';
import { eachCase } from '../../../../test/conformance/cases.ts';
import { parseRetryAfterMs } from '../../src/retry-after.ts';

interface Case {
  title: string;
  header: string | null;
  now: string;
  delay_ms: number | null;
}

describe('TypeScript conforms: retry-after', () => {
  eachCase<Case>('retry-after', { header: true, now: true, delay_ms: true }, ({ header, now, delay_ms }) => {
    expect(parseRetryAfterMs(header, Date.parse(now)) ?? null).to.equal(delay_ms);
  });
});
